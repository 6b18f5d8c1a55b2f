/** All tools of the lists as Markdown, for people who write queries without having seen the ranking. */
export function toolTexts(lists) {
  const sections = lists.map(({ name, tools }) => {
    const lines = tools.map((tool) => {
      const description = (tool.description ?? tool.title ?? '').replace(/\s+/g, ' ').trim();
      return `- \`${name}.${tool.name}\`: ${description.slice(0, 600)}`;
    });
    return `## ${name}\n\n${lines.join('\n')}\n`;
  });
  const count = lists.reduce((sum, { tools }) => sum + tools.length, 0);
  return `# ${count} tools of ${lists.length} servers\n\n${sections.join('\n')}`;
}
