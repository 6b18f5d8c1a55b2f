/** The files of the skill, by their path in it. They are code, because the program is one bundle. */
export const SKILL_FILES = {
  'SKILL.md': `---
name: switchyard
description: Find, start and debug the local services of a git repository that has a switchyard.toml, for several branches at once. Use it before you guess a port, start a dev server by hand, read a terminal, or ask which branch answers on localhost.
---

# Switchyard

Switchyard runs the services of a repository for many branches side by side. Every branch has its own worktree, its own free ports, its own logs, and a name for each service that never changes: \`http://<service>.<branch>.<project>.localhost:7331\`. It knows what runs; you need not scan ports or look at processes.

There are two ways in, with the same answers. If you have the MCP tools (\`switchyard_brief\`, \`switchyard_where\`, \`switchyard_logs\` …), call them. Otherwise run \`switchyard\` (short: \`sy\`) in a shell, and add \`--json\` to every command: the answer is one JSON object, and \`"ok": false\` comes with \`error\` and \`hint\`.

## Look first; looking changes nothing

| Question | Command | MCP tool |
| --- | --- | --- |
| What is this project, what runs, what is wrong? | \`sy brief --json\` | \`switchyard_brief\` |
| Where is one service, and who really listens there? | \`sy where web --json\` | \`switchyard_where\` |
| What did it write? | \`sy logs api --grep error --since 10m --json\` | \`switchyard_logs\` |
| What runs, in detail? | \`sy status --json\` | \`switchyard_status\` |
| Which worktrees are there? | \`sy list --json\` | \`switchyard_list\` |
| Is the set-up sound? | \`sy doctor --json\` | \`switchyard_doctor\` |

1. Begin with the brief, once. It names the services and profiles that can be started (\`configured_services\`, \`configured_profiles\`), those that run with their addresses, the changed files, and recent errors.
2. Read \`env_warnings\`. A missing \`.env\` is the usual reason for a service that does not start, and you cannot invent its contents: ask.
3. Use the \`url\` you are given for requests and in what you write. The port behind it is another one after the next start.
4. Ask for logs with \`--grep\` and \`--since\`, or a small \`--lines\`. Answers are cut to 8 KB; \`truncated\` says so.

In a worktree, commands mean its branch. In the project root, \`status\` and \`down\` mean all branches. \`--branch NAME\` says it outright.

## Then change things, with the user's consent

These start or stop programs and move what the user sees on localhost. Do them when you were asked to, or ask first.

| To do | Command | MCP tool |
| --- | --- | --- |
| A worktree for a branch, with its env files | \`sy create feature-x --json\` | \`switchyard_create\` |
| Start services and wait until they answer | \`sy up feature-x --json\` | \`switchyard_up\` |
| Only some of them | \`sy up feature-x web api --json\` | \`switchyard_up\` with \`services\` |
| Stop them | \`sy down --branch feature-x --json\` | \`switchyard_down\` |
| Let the usual ports lead to a branch | \`sy checkout feature-x --json\` | \`switchyard_checkout\` |
| Give the usual ports back | \`sy uncheckout --json\` | \`switchyard_uncheckout\` |
| Stop a branch and delete its worktree | \`sy remove feature-x --json\` | – |

- \`create\` prints the path of the worktree. Edit the files there, not those of another branch.
- \`up\` leaves alone what runs already, so it is safe to repeat. After a change of \`switchyard.toml\` or of packages: \`sy restart web\`.
- \`checkout\` is for programs that insist on a fixed port, such as an OAuth callback. For everything else use the URL.
- \`remove\` without \`--force\` refuses to lose uncommitted work. Do not add \`--force\` unless the user says so.

## When something does not work

- \`up\` says that a service exited or is not ready: its exit code and last lines are in the answer. Correct the cause, then \`up\` again.
- It runs, but listens on a port of its own: its command ignores the port it is given. It gets it as the variable \`PORT\`, and as \`{port}\` in \`command\` in switchyard.toml.
- A stranger holds the port of a checkout: you are told its pid and command. Tell the user; do not kill it.
- \`state\` says how a service is doing: only \`healthy\` and \`ready\` ones answer, \`running\` ones listen nowhere by design, and \`note\` says what is wrong with the others. Use the \`address\` of \`sy where\`; it is null when nothing answers.
- The status \`stale\` means that the process is gone, \`unverified\` that nobody can prove it is ours. Neither needs cleaning by hand: \`up\` or \`down\` settle it.
- There is no switchyard.toml: \`sy init --dry-run\` shows the one it would write. Offer it to the user.

## Do not

- start a second dev server beside the one that runs, or choose a port yourself;
- kill processes by name, pid or port: \`sy down\` ends all of a service, children included, and nothing else;
- edit the files in \`~/.switchyard\`.
`,
  'agents/openai.yaml': `interface:
  display_name: "Switchyard"
  short_description: "Local services of every branch: find, start, debug"
  default_prompt: "Use $switchyard to tell me which services of this repository run, and where."
`,
} as const;
