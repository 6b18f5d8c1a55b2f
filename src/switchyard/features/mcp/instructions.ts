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
