import { Gateway } from '../../gateway/index.ts';
import { sendToolCall, exposureCases } from '../exposure.cases.ts';
import { suite } from './suite.ts';

exposureCases('suite', {
  gateway: (entry) =>
    new Gateway({
      entries: [
        {
          ...entry,
          naming: 'prefixed',
          exposure: suite({
            name: undefined,
            description: undefined,
            purpose: undefined,
            summaryMaxChars: 160,
            instructionsMaxChars: 2000,
            introspection: 'full',
          }),
        },
      ],
    }),
  call: (tool, args) =>
    `{"name":"files_suite","arguments":{"action":"call","subtool":"${tool}","args":${args}}}`,
  told: (gateway) => sendToolCall(gateway, '{"name":"files_suite","arguments":{"action":"introspect"}}'),
});
