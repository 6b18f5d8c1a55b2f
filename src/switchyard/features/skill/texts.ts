/** The files of the skill, by their path in it. Kept in code, because the program is a single bundle. */
export const SKILL_FILES = {
  'SKILL.md': `---
name: switchyard
description: Find, start and debug the local services of a git repository that has a switchyard.toml, for several branches at once. Use it before you guess a port, start a dev server by hand, read a terminal, or wonder which branch responds on localhost.
---

# Switchyard

Switchyard runs the services of a repository for many branches side by side. Every branch has its own worktree, ports and logs, and every service a stable address: \`http://<service>.<branch>.<project>.localhost:7331\`. Switchyard knows what runs, so you do not need to scan ports or inspect processes.

You can use it in two ways, with the same results. If you have the MCP tools (\`switchyard_brief\`, \`switchyard_where\`, \`switchyard_logs\` …), call them. Otherwise run \`switchyard\` (short: \`sy\`) in a shell with \`--json\`: the output is one JSON object, and a failure has \`"ok": false\` with \`error\` and \`hint\`.

## Look first: these commands change nothing

| Question | Command | MCP tool |
| --- | --- | --- |
| What is this project, what runs, what is wrong? | \`sy brief --json\` | \`switchyard_brief\` |
| Where is one service, and which process listens there? | \`sy where web --json\` | \`switchyard_where\` |
| What did it write? | \`sy logs api --grep error --since 10m --json\` | \`switchyard_logs\` |
| What runs, in detail? | \`sy status --json\` | \`switchyard_status\` |
| Which worktrees exist? | \`sy list --json\` | \`switchyard_list\` |
| Is the setup correct? | \`sy doctor --json\` | \`switchyard_doctor\` |

1. Start with the brief, once. It lists the services and profiles that can be started (\`configured_services\`, \`configured_profiles\`), the running services with their addresses, changed files, and recent errors.
2. Check \`env_warnings\`. A missing \`.env\` is a common reason why a service does not start, and you cannot guess its contents: ask the user.
3. Use the \`url\` you get, in requests and in what you write. The port behind it may change with the next start.
4. Limit logs with \`--grep\` and \`--since\`, or a small \`--lines\`. Output is cut to 8 KB; \`truncated\` says so.

In a worktree, commands apply to its branch. In the project root, \`status\` and \`down\` apply to all branches. Use \`--branch NAME\` to be explicit.

## Then make changes, with the user's consent

These commands start or stop programs and change what responds on localhost. Run them when the user asked for it, or ask first.

| To do | Command | MCP tool |
| --- | --- | --- |
| Create a worktree for a branch, with its env files | \`sy create feature-x --json\` | \`switchyard_create\` |
| Start services and wait until they are ready | \`sy up feature-x --json\` | \`switchyard_up\` |
| Start only some of them | \`sy up feature-x web api --json\` | \`switchyard_up\` with \`services\` |
| Stop them | \`sy down --branch feature-x --json\` | \`switchyard_down\` |
| Point the canonical ports to a branch | \`sy checkout feature-x --json\` | \`switchyard_checkout\` |
| Release the canonical ports | \`sy uncheckout --json\` | \`switchyard_uncheckout\` |
| Stop a branch and delete its worktree | \`sy remove feature-x --json\` | – |

- \`create\` prints the path of the worktree. Edit the files there, not those of another branch.
- \`up\` leaves running services alone, so it is safe to repeat. After changes to \`switchyard.toml\` or to installed packages, run \`sy restart web\`.
- \`checkout\` is for programs that need a fixed port, such as an OAuth callback. For everything else, use the URL.
- \`remove\` without \`--force\` refuses to lose uncommitted work. Do not add \`--force\` unless the user asks for it.

## When something does not work

- \`up\` reports that a service exited or is not ready: the output has its exit code and last lines. Fix the cause, then run \`up\` again.
- A service runs, but listens on another port: its command ignores the assigned port. Pass it on: it is in the variable \`PORT\`, and is \`{port}\` in \`command\` in switchyard.toml.
- Another process holds a canonical port: the message names its pid and command. Tell the user; do not kill it.
- \`state\` says how a service is doing: only \`healthy\` and \`ready\` services respond, \`running\` services do not listen by design, and for the others \`note\` says what is wrong. Use the \`address\` from \`sy where\`; it is null if nothing responds.
- The status \`stale\` means that the process is gone, \`unverified\` that nothing proves it is ours. Do not clean up by hand: \`up\` and \`down\` handle both.
- There is no switchyard.toml: \`sy init --dry-run\` shows what it would write. Offer it to the user.

## Do not

- start a second dev server next to a running one, or choose a port yourself;
- kill processes by name, pid or port: \`sy down\` stops a service with all its children, and nothing else;
- edit the files in \`~/.switchyard\`.
`,
  'agents/openai.yaml': `interface:
  display_name: "Switchyard"
  short_description: "Local services of every branch: find, start, debug"
  default_prompt: "Use $switchyard to tell me which services of this repository run, and where."
`,
} as const;
