/** How an agent works with a project, as a page. */
export const GUIDE = `# Working with Switchyard

Switchyard knows which services of this repository run, for which branch, and where. Take its word instead of scanning ports, looking at processes or reading terminals.

1. Read \`switchyard://project/brief\`, or call \`switchyard_brief\` where resources cannot be read.
2. Choose services and profiles only from \`configured_services\` and \`configured_profiles\`.
3. Look at \`env_warnings\`. A missing env file is the usual reason for a service that does not start, and its contents cannot be guessed: ask the user.
4. Look at \`state\` before you use a service: only \`healthy\` and \`ready\` ones answer. \`note\` says what is wrong with the others.
5. \`switchyard_where\` for one service: the \`address\` that answers, its port, and the process that really listens there.
6. \`switchyard_logs\` for what a service wrote. Narrow it down with \`service\`, \`grep\` and \`since\`; \`truncated\` says that there is more.
7. \`switchyard_create\` when the user wants a branch to run beside the others.
8. \`switchyard_up\`, \`switchyard_checkout\`, \`switchyard_uncheckout\` and \`switchyard_down\` only when the user wants the runtime changed.

## What the changing tools do

- \`switchyard_create\` makes a git worktree for a branch, and the branch too if there is none, and links or copies the configured env files into it.
- \`switchyard_up\` runs the commands of switchyard.toml on free ports and waits until they answer. What runs already is left alone. To cancel it ends the waiting, not the services.
- \`switchyard_checkout\` lets the usual ports (localhost:3000 …) lead to one branch. Other branches run on.
- \`switchyard_uncheckout\` gives those ports back.
- \`switchyard_down\` stops services that Switchyard started, and nothing else.

In a worktree, \`switchyard_status\`, \`switchyard_down\` and \`switchyard_uncheckout\` mean its branch unless you name another; from the project root they mean all branches. Keep the approval of these tools turned on in your client.
`;
