/**
 * An issue tracker for the tasks of the benchmark, with the tools and results of typical ones. It keeps its issues in a
 * file, which may be replaced between two calls.
 *
 *   node bench/tracker.mjs issues.json
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const [, , file] = process.argv;
const text = { type: 'string' };
const number = { type: 'integer' };
const STATE = { type: 'string', enum: ['open', 'closed', 'all'], default: 'open' };
const PAGES = {
  page: { type: 'integer', minimum: 1, default: 1, description: 'Page number' },
  per_page: {
    type: 'integer',
    minimum: 1,
    maximum: 50,
    default: 30,
    description: 'Issues per page (max 50)',
  },
};

const tools = {
  list_issues: {
    description: 'Lists issues of the project, newest first, with filters and pages.',
    properties: {
      state: { ...STATE, description: 'Which issues to list' },
      milestone: { ...text, description: 'Title of a milestone' },
      label: { ...text, description: 'Only issues with this label' },
      assignee: { ...text, description: 'Login of the assignee' },
      ...PAGES,
    },
    run: ({ state = 'open', milestone, label, assignee, page = 1, per_page = 30 }, issues) =>
      issues
        .filter(
          (issue) =>
            (state === 'all' || issue.state === state) &&
            (milestone === undefined || issue.milestone?.title === milestone) &&
            (label === undefined || issue.labels.some(({ name }) => name === label)) &&
            (assignee === undefined || issue.assignee?.login === assignee),
        )
        .slice((page - 1) * per_page, page * per_page),
  },
  get_issue: {
    description: 'Gets one issue with all its fields.',
    properties: { number: { ...number, description: 'Number of the issue' } },
    required: ['number'],
    run: ({ number: wanted }, issues) => found(issues, wanted),
  },
  add_comment: {
    description: 'Adds a comment to an issue.',
    properties: { number, body: { ...text, description: 'The comment, in Markdown' } },
    required: ['number', 'body'],
    run: ({ number: wanted, body }, issues) => {
      const issue = found(issues, wanted);
      issue.comments += 1;
      return {
        id: wanted * 100 + issue.comments,
        issue: wanted,
        body,
        html_url: `${issue.html_url}#comment`,
      };
    },
  },
  update_issue: {
    description: 'Changes the title, state, milestone, labels or assignee of an issue.',
    properties: {
      number,
      title: text,
      state: { type: 'string', enum: ['open', 'closed'] },
      milestone: text,
      labels: { type: 'array', items: text },
      assignee: text,
    },
    required: ['number'],
    run: ({ number: wanted, milestone, labels, assignee, ...changes }, issues) => {
      const issue = Object.assign(found(issues, wanted), changes);
      if (milestone !== undefined) issue.milestone = { title: milestone };
      if (labels !== undefined) issue.labels = labels.map((name) => ({ name }));
      if (assignee !== undefined) issue.assignee = { login: assignee };
      return issue;
    },
  },
};

function found(issues, wanted) {
  const issue = issues.find((each) => each.number === wanted);
  if (issue === undefined) throw new Error(`There is no issue ${wanted}.`);
  return issue;
}

const server = new Server({ name: 'tracker', version: '1.0.0' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: Object.entries(tools).map(([name, { description, properties, required = [] }]) => ({
    name,
    description,
    inputSchema: { type: 'object', properties, required },
  })),
}));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
  const issues = JSON.parse(readFileSync(file, 'utf8'));
  try {
    const result = tools[params.name].run(params.arguments ?? {}, issues);
    writeFileSync(file, JSON.stringify(issues));
    return { content: [{ type: 'text', text: JSON.stringify(result) }] };
  } catch (error) {
    return { isError: true, content: [{ type: 'text', text: error.message }] };
  }
});
await server.connect(new StdioServerTransport());
