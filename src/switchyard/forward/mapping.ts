/** One canonical port and the service behind it, as sent to and from the forwarder. */
export interface Mapping {
  readonly listen_port: number;
  readonly target_host: string;
  readonly target_port: number;
  readonly project: string;
  readonly project_root: string;
  readonly branch: string;
  readonly service: string;
}

/** Whether both point to the same port for the same service. */
export function sameMapping(a: Mapping, b: Mapping): boolean {
  return (
    a.listen_port === b.listen_port &&
    a.target_host === b.target_host &&
    a.target_port === b.target_port &&
    a.project_root === b.project_root &&
    a.branch === b.branch &&
    a.service === b.service
  );
}
