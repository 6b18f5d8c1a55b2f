import { Gateway } from '../../gateway/index.ts';
import { silentLogger } from '../../shared/log.ts';
import { LazyToolSearch } from '../../search/index.ts';
import { exposureCases, noResults, sendToolCall } from '../exposure.cases.ts';
import { search } from './search.ts';
import { searched } from './searched.ts';

exposureCases('search', {
  gateway: (entry) =>
    new Gateway({
      entries: [{ ...entry, naming: 'prefixed', exposure: searched }],
      overall: Object.values(
        search({
          finder: new LazyToolSearch({ log: silentLogger }),
          named: ['files'],
          firstListMs: () => 1000,
          results: noResults,
        }),
      ),
    }),
  call: (tool, args) => `{"name":"call_tool","arguments":{"tool":"files.${tool}","args":${args}}}`,
  told: (gateway) =>
    sendToolCall(gateway, '{"name":"find_tool","arguments":{"query":"read or load a file"}}'),
});
