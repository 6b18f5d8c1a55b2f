/**
 * The tasks of the benchmark. Each is written twice, as a model would do it: `steps` with one tool call at a time, or
 * several at once if none needs the result of another (`turn`), and `scripts` for run_code, with a look at what a tool
 * returns if its signature does not say. Both return the answer, which must be the same.
 *
 * `needs`: the queries for find_tool. `tools`: what the responses to them must contain, as server.tool.
 */
export function taskList(dir) {
  const path = (name) => `${dir}/${name}`;
  const json = JSON.stringify;
  const notes = Array.from({ length: 20 }, (_, n) =>
    path(`notes/meeting-${String(n + 1).padStart(2, '0')}.md`),
  );
  const services = Array.from({ length: 8 }, (_, n) => path(`config/service-${n + 1}.json`));
  return [
    {
      name: 'read one file',
      needs: ['read a text file'],
      tools: ['files.read_text_file'],
      steps: async ({ turn }) => {
        const [text] = await turn(['files', 'read_text_file', { path: services[0] }]);
        return JSON.parse(text).port;
      },
      scripts: [
        `return JSON.parse((await files.read_text_file({ path: ${json(services[0])} })).content).port`,
      ],
    },
    {
      name: 'look up one issue and comment on it',
      needs: ['get an issue', 'comment on an issue'],
      tools: ['tracker.get_issue', 'tracker.add_comment'],
      steps: async ({ turn }) => {
        const [issue] = await turn(['tracker', 'get_issue', { number: 17 }]);
        const { title } = JSON.parse(issue);
        await turn(['tracker', 'add_comment', { number: 17, body: `Looking into it: ${title}` }]);
        return title;
      },
      scripts: [
        `const { title } = await tracker.get_issue({ number: 17 });
await tracker.add_comment({ number: 17, body: \`Looking into it: \${title}\` });
return title`,
      ],
    },
    {
      name: 'find decisions in 20 notes',
      needs: ['read several files'],
      tools: ['files.read_multiple_files'],
      steps: async ({ turn }) => {
        const [text] = await turn(['files', 'read_multiple_files', { paths: notes }]);
        return text.match(/^Decision: .*$/gm);
      },
      scripts: [
        `const paths = Array.from({ length: 20 }, (_, n) => \`${dir}/notes/meeting-\${String(n + 1).padStart(2, '0')}.md\`);
const { content } = await files.read_multiple_files({ paths });
return content.match(/^Decision: .*$/gm)`,
      ],
    },
    {
      name: 'change a setting in 8 files',
      needs: ['read a text file', 'write a file'],
      tools: ['files.read_text_file', 'files.write_file'],
      steps: async ({ turn }) => {
        const texts = await turn(...services.map((each) => ['files', 'read_text_file', { path: each }]));
        const changed = texts.flatMap((text, at) => {
          const service = JSON.parse(text);
          if (service.timeout === 60) return [];
          const content = json({ ...service, timeout: 60 }, undefined, 2);
          return [['files', 'write_file', { path: services[at], content }]];
        });
        await turn(...changed);
        return changed.length;
      },
      scripts: [
        `let changed = 0;
for (let n = 1; n <= 8; n++) {
  const path = \`${dir}/config/service-\${n}.json\`;
  const service = JSON.parse((await files.read_text_file({ path })).content);
  if (service.timeout === 60) continue;
  await files.write_file({ path, content: JSON.stringify({ ...service, timeout: 60 }, null, 2) });
  changed++;
}
return changed`,
      ],
    },
    {
      name: 'count open bugs by assignee',
      needs: ['list issues'],
      tools: ['tracker.list_issues'],
      steps: async ({ turn }) => {
        const issues = [];
        for (let page = 1; ; page++) {
          const given = { state: 'open', label: 'bug', page, per_page: 50 };
          const [text] = await turn(['tracker', 'list_issues', given]);
          const more = JSON.parse(text);
          issues.push(...more);
          if (more.length < 50) break;
        }
        return counted(issues);
      },
      scripts: [
        'return await tracker.list_issues({ per_page: 1 })',
        `const counts: Record<string, number> = {};
for (let page = 1; ; page++) {
  const issues = await tracker.list_issues({ state: 'open', label: 'bug', page, per_page: 50 });
  for (const { assignee } of issues) counts[assignee?.login ?? 'nobody'] = (counts[assignee?.login ?? 'nobody'] ?? 0) + 1;
  if (issues.length < 50) return counts;
}`,
      ],
    },
    {
      name: 'write a changelog of a milestone',
      needs: ['list issues of a milestone', 'write a file'],
      tools: ['tracker.list_issues', 'files.write_file'],
      steps: async ({ turn }) => {
        const given = { state: 'closed', milestone: '2.1', per_page: 50 };
        const [text] = await turn(['tracker', 'list_issues', given]);
        const content = changelog(JSON.parse(text));
        await turn(['files', 'write_file', { path: path('CHANGELOG.md'), content }]);
        return content.split('\n').length;
      },
      scripts: [
        'return await tracker.list_issues({ state: "closed", milestone: "2.1", per_page: 1 })',
        `const issues = await tracker.list_issues({ state: 'closed', milestone: '2.1', per_page: 50 });
const content = issues.map(({ number, title }) => \`- \${title} (#\${number})\`).join('\\n');
await files.write_file({ path: '${dir}/CHANGELOG.md', content });
return content.split('\\n').length`,
      ],
    },
    {
      name: 'ask for news in stale issues',
      needs: ['list issues', 'add a comment'],
      tools: ['tracker.list_issues', 'tracker.add_comment'],
      steps: async ({ turn }) => {
        const given = { state: 'open', milestone: '2.1', per_page: 50 };
        const [text] = await turn(['tracker', 'list_issues', given]);
        const stale = JSON.parse(text).filter(({ updated_at }) => updated_at < '2025-11-15');
        const comment = ({ number, assignee }) => {
          const body = `@${assignee?.login ?? 'all'} is there any news?`;
          return ['tracker', 'add_comment', { number, body }];
        };
        await turn(...stale.map(comment));
        return stale.length;
      },
      scripts: [
        'return await tracker.list_issues({ state: "open", milestone: "2.1", per_page: 1 })',
        `const issues = await tracker.list_issues({ state: 'open', milestone: '2.1', per_page: 50 });
const stale = issues.filter(({ updated_at }) => updated_at < '2025-11-15');
await Promise.all(stale.map(({ number, assignee }) =>
  tracker.add_comment({ number, body: \`@\${assignee?.login ?? 'all'} is there any news?\` })));
return stale.length`,
      ],
    },
    {
      name: 'import 24 contacts into memory',
      needs: ['read a text file', 'create entities in the knowledge graph', 'create relations'],
      tools: ['files.read_text_file', 'memory.create_entities', 'memory.create_relations'],
      steps: async ({ turn }) => {
        const [text] = await turn(['files', 'read_text_file', { path: path('contacts.csv') }]);
        const { entities, relations } = graphOf(text);
        await turn(['memory', 'create_entities', { entities }]);
        await turn(['memory', 'create_relations', { relations }]);
        return entities.length;
      },
      scripts: [
        `return (await files.read_text_file({ path: ${json(path('contacts.csv'))}, head: 2 })).content`,
        `const { content } = await files.read_text_file({ path: ${json(path('contacts.csv'))} });
const rows = content.trim().split('\\n').slice(1).map((line) => line.split(','));
const companies = [...new Set(rows.map(([, , company]) => company))];
const entities = [
  ...companies.map((name) => ({ name, entityType: 'company', observations: [] })),
  ...rows.map(([name, email]) => ({ name, entityType: 'person', observations: [\`email: \${email}\`] })),
];
await memory.create_entities({ entities });
await memory.create_relations({ relations: rows.map(([from, , to]) => ({ from, to, relationType: 'works at' })) });
return entities.length`,
      ],
    },
    {
      name: 'delete customers without orders',
      needs: ['read the whole knowledge graph', 'delete entities'],
      tools: ['memory.read_graph', 'memory.delete_entities'],
      steps: async ({ turn }) => {
        const [text] = await turn(['memory', 'read_graph', {}]);
        const old = JSON.parse(text).entities.filter(({ observations }) =>
          observations.some((each) => /last order: 202[23]/.test(each)),
        );
        await turn(['memory', 'delete_entities', { entityNames: old.map(({ name }) => name) }]);
        return old.length;
      },
      scripts: [
        'const { entities } = await memory.read_graph();\nreturn [entities.length, entities[0]]',
        `const { entities } = await memory.read_graph();
const old = entities.filter(({ observations }) => observations.some((each) => /last order: 202[23]/.test(each)));
await memory.delete_entities({ entityNames: old.map(({ name }) => name) });
return old.length`,
      ],
    },
    {
      name: 'collect TODO comments as issues to remember',
      needs: ['search files by name', 'read several files', 'create entities in the knowledge graph'],
      tools: ['files.search_files', 'files.read_multiple_files', 'memory.create_entities'],
      steps: async ({ turn }) => {
        const [list] = await turn(['files', 'search_files', { path: path('src'), pattern: '**/*.ts' }]);
        const [text] = await turn(['files', 'read_multiple_files', { paths: list.trim().split('\n') }]);
        const entities = [...text.matchAll(/TODO\((\w+)\): (.*)/g)].map(([, owner, what]) => ({
          name: what,
          entityType: 'todo',
          observations: [`owner: ${owner}`],
        }));
        await turn(['memory', 'create_entities', { entities }]);
        return entities.length;
      },
      scripts: [
        `return (await files.search_files({ path: '${dir}/src', pattern: '**/*.ts' })).content.slice(0, 200)`,
        `const { content: list } = await files.search_files({ path: '${dir}/src', pattern: '**/*.ts' });
const { content } = await files.read_multiple_files({ paths: list.trim().split('\\n') });
const entities = [...content.matchAll(/TODO\\((\\w+)\\): (.*)/g)].map(([, owner, what]) =>
  ({ name: what, entityType: 'todo', observations: [\`owner: \${owner}\`] }));
await memory.create_entities({ entities });
return entities.length`,
      ],
    },
    {
      name: 'add ten numbers, two at a time',
      needs: ['add two numbers'],
      tools: ['everything.get_sum'],
      steps: async ({ turn }) => {
        let total = 0;
        for (const b of NUMBERS) {
          const [text] = await turn(['everything', 'get-sum', { a: total, b }]);
          total = sumIn(text);
        }
        return total;
      },
      scripts: [
        'return await everything.get_sum({ a: 0, b: 3 })',
        `let total = 0;
for (const b of ${json(NUMBERS)})
  total = Number((await everything.get_sum({ a: total, b })).match(/is (\\d+)/)[1]);
return total`,
      ],
    },
    {
      name: 'move open issues to the next milestone',
      needs: ['list issues', 'change an issue'],
      tools: ['tracker.list_issues', 'tracker.update_issue'],
      steps: async ({ turn }) => {
        const given = { state: 'open', milestone: '2.0', per_page: 50 };
        const [text] = await turn(['tracker', 'list_issues', given]);
        const numbers = JSON.parse(text).map(({ number }) => number);
        await turn(...numbers.map((number) => ['tracker', 'update_issue', { number, milestone: '2.1' }]));
        return numbers.length;
      },
      scripts: [
        `const issues = await tracker.list_issues({ state: 'open', milestone: '2.0', per_page: 50 });
for (const { number } of issues) await tracker.update_issue({ number, milestone: '2.1' });
return issues.length`,
      ],
    },
  ];
}

const NUMBERS = [3, 14, 15, 92, 65, 35, 89, 79, 32, 38];

function sumIn(text) {
  return Number(/is (\d+)/.exec(text)[1]);
}

function counted(issues) {
  const counts = {};
  for (const { assignee } of issues) {
    const name = assignee?.login ?? 'nobody';
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

function changelog(issues) {
  return issues.map(({ number, title }) => `- ${title} (#${number})`).join('\n');
}

function graphOf(csv) {
  const rows = csv
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','));
  const companies = [...new Set(rows.map(([, , company]) => company))];
  return {
    entities: [
      ...companies.map((name) => ({ name, entityType: 'company', observations: [] })),
      ...rows.map(([name, email]) => ({ name, entityType: 'person', observations: [`email: ${email}`] })),
    ],
    relations: rows.map(([from, , to]) => ({ from, to, relationType: 'works at' })),
  };
}
