/** Sent to the client's model when it connects. */
export const INSTRUCTIONS = [
  'Switchyard runs the local services of this repository, for several branches at once. Use it instead of guessing ' +
    'ports, reading terminals or starting dev servers yourself.',
  'Start by reading switchyard://project/brief, or call switchyard_brief if you cannot read resources. Use only names ' +
    'from its configured_services and configured_profiles, and check env_warnings before you create a worktree. ' +
    'switchyard_where returns the address of one service and which process listens there; switchyard_logs returns its ' +
    'output (use grep and since). The prompt switchyard_runtime_handoff is a ready-made start.',
  'switchyard_create, switchyard_up, switchyard_checkout, switchyard_uncheckout and switchyard_down make changes that ' +
    'the user sees: worktrees, processes, what responds on localhost. Call them only when the user wants that.',
].join('\n');

/** The guide for agents, on one page. */
export const GUIDE = `# Working with Switchyard

Switchyard knows which services of this repository run, for which branch, and where. Use it instead of scanning ports, inspecting processes or reading terminals.

1. Read \`switchyard://project/brief\`, or call \`switchyard_brief\` if you cannot read resources.
2. Choose services and profiles only from \`configured_services\` and \`configured_profiles\`.
3. Check \`env_warnings\`. A missing env file is a common reason why a service does not start, and you cannot guess its contents: ask the user.
4. Check \`state\` before you use a service: only \`healthy\` and \`ready\` services respond. For the others, \`note\` says what is wrong.
5. Call \`switchyard_where\` for one service: its working \`address\`, its port, and the process that listens there.
6. Call \`switchyard_logs\` for the output of a service. Narrow it down with \`service\`, \`grep\` and \`since\`; \`truncated\` means that there is more.
7. Call \`switchyard_create\` when the user wants to run another branch side by side.
8. Call \`switchyard_up\`, \`switchyard_checkout\`, \`switchyard_uncheckout\` and \`switchyard_down\` only when the user wants these changes.

## Tools that make changes

- \`switchyard_create\` creates a git worktree for a branch, and the branch if it does not exist, and links or copies the configured env files into it.
- \`switchyard_up\` runs the commands in switchyard.toml on free ports and waits until the services respond. Running services are left alone. Cancelling the call stops the waiting, not the services.
- \`switchyard_checkout\` points the canonical ports (localhost:3000 …) to one branch. Other branches keep running.
- \`switchyard_uncheckout\` releases those ports.
- \`switchyard_down\` stops services that Switchyard started, and nothing else.

In a worktree, \`switchyard_status\`, \`switchyard_down\` and \`switchyard_uncheckout\` apply to its branch unless you name another; from the project root, they apply to all branches. Keep approval enabled for these tools in your client.
`;
