import { npmServer } from '../../helpers/temp-project.ts';
import type { Step, Traffic } from '../../helpers/traffic.ts';

const call = (title: string, name: string, args: object = {}, more: Partial<Step> = {}): Step => ({
  title,
  method: 'tools/call',
  params: { name, arguments: args },
  ...more,
});

const GRAPH = 'memory://knowledge-graph';
const UPDATED = { hears: ['notifications/resources/updated'] };

export const memory: Traffic = {
  server: 'memory',
  start: (dir) => ({ ...npmServer('memory'), env: { MEMORY_FILE_PATH: `${dir}/memory.jsonl` } }),
  files: { 'memory.jsonl': '' },
  version: '2025-06-18',
  capabilities: {},
  replies: {},
  blurs: [],
  steps: [
    { title: 'initialize', method: 'initialize' },
    { title: 'tools/list', method: 'tools/list' },
    { title: 'resources/list', method: 'resources/list' },
    { title: 'resources/templates/list', method: 'resources/templates/list' },
    call('read_graph, still empty', 'read_graph'),
    { title: 'subscribe', method: 'resources/subscribe', params: { uri: GRAPH } },
    call(
      'create_entities',
      'create_entities',
      {
        entities: [
          { name: 'Ada', entityType: 'person', observations: ['writes', 'rechnet "gern" 😀'] },
          { name: 'Engine', entityType: 'machine', observations: [] },
        ],
      },
      UPDATED,
    ),
    call(
      'create_entities that are there',
      'create_entities',
      {
        entities: [{ name: 'Ada', entityType: 'person', observations: [] }],
      },
      UPDATED,
    ),
    call('create_entities of the wrong shape', 'create_entities', { entities: [{ name: 'x' }] }),
    call(
      'create_relations',
      'create_relations',
      {
        relations: [{ from: 'Ada', to: 'Engine', relationType: 'programs' }],
      },
      UPDATED,
    ),
    call(
      'add_observations',
      'add_observations',
      {
        observations: [{ entityName: 'Ada', contents: ['walks'] }],
      },
      UPDATED,
    ),
    call('add_observations to nobody', 'add_observations', {
      observations: [{ entityName: 'Nobody', contents: ['x'] }],
    }),
    call('search_nodes', 'search_nodes', { query: 'walks' }),
    call('open_nodes', 'open_nodes', { names: ['Ada', 'Nobody'] }),
    { title: 'the graph as a resource', method: 'resources/read', params: { uri: GRAPH } },
    {
      title: 'an unknown resource',
      method: 'resources/read',
      params: { uri: 'memory://nothing' },
      unknown: 'memory://nothing',
    },
    call(
      'delete_observations',
      'delete_observations',
      {
        deletions: [{ entityName: 'Ada', observations: ['walks'] }],
      },
      UPDATED,
    ),
    call(
      'delete_relations',
      'delete_relations',
      {
        relations: [{ from: 'Ada', to: 'Engine', relationType: 'programs' }],
      },
      UPDATED,
    ),
    { title: 'unsubscribe', method: 'resources/unsubscribe', params: { uri: GRAPH } },
    call('delete_entities, which nobody is told of', 'delete_entities', { entityNames: ['Engine'] }),
    call('read_graph', 'read_graph'),
    call('an unknown tool', 'no_such_tool', {}, { unknown: 'no_such_tool' }),
    { title: 'ping', method: 'ping' },
  ],
};
