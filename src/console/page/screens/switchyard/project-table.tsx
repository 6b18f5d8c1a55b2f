import type { ComponentChildren } from 'preact';
import type { YardBranch, YardProject, YardService } from '../../../protocol.ts';
import { Button } from '../../parts/button.tsx';
import { formatDuration } from '../../parts/format.ts';
import { now } from '../../state/clock.ts';
import { actAndTell } from '../../state/messages.ts';
import { hrefOf } from '../../state/route.ts';

type Tone = 'running' | 'warn' | 'failed' | 'stopped';

const TONES: Readonly<Record<string, Tone>> = {
  healthy: 'running',
  ready: 'running',
  running: 'running',
  unhealthy: 'failed',
  'not-listening': 'warn',
  'wrong-port': 'failed',
  exited: 'failed',
};

/** A table with a row for each branch and a column for each service. */
export function ProjectTable({ project }: { project: YardProject }): ComponentChildren {
  const { name, directory, status, branches, defined, services, checkouts } = project;
  const names = [...new Set([...defined, ...services.map(({ service }) => service)])].sort();
  // A service may run on a branch whose worktree is gone.
  const listed = new Set(branches.map(({ branch }) => branch));
  const gone = [...new Set(services.map(({ branch }) => branch))].filter((branch) => !listed.has(branch));
  const rows: readonly YardBranch[] = [...branches, ...gone.map((branch) => ({ branch, directory: null }))];
  return (
    <section class="project" aria-label={`Project ${name}`}>
      <header class="project-head">
        <h2>{name}</h2>
        <code class="muted">{directory}</code>
        {status === 'ok' ? null : (
          <span class="bad">
            {status === 'missing' ? 'the directory is gone' : 'switchyard.toml cannot be read'}
          </span>
        )}
      </header>
      {checkouts.length === 0 ? null : (
        <p class="muted">
          {checkouts.map(({ service, branch, port, status: state }) => (
            <span key={`${service} ${port}`} class="checkout">
              Port {port} points to {service} of <strong>{branch}</strong>
              {state === 'running' || state === 'ok' ? '' : ` (${state})`}
            </span>
          ))}
        </p>
      )}
      <div class="project-scroll" tabIndex={0} role="group" aria-label={`Branches of ${name}`}>
        <table class="yard-table">
          <thead>
            <tr>
              <th scope="col">Branch</th>
              {names.map((service) => (
                <th key={service} scope="col">
                  {service}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.branch}>
                <th scope="row">
                  <BranchCell project={project} row={row} />
                </th>
                {names.map((service) => {
                  const known = services.find(
                    (each) => each.branch === row.branch && each.service === service,
                  );
                  const startable = row.directory !== null && defined.includes(service);
                  return (
                    <td key={service}>
                      {known !== undefined ? (
                        <ServiceCell directory={directory} service={known} />
                      ) : startable ? (
                        <StoppedCell params={{ directory, branch: row.branch, service }} />
                      ) : (
                        <span class="muted">—</span>
                      )}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function BranchCell({ project, row }: { project: YardProject; row: YardBranch }): ComponentChildren {
  const { directory, services, checkouts } = project;
  const { branch } = row;
  const params = { directory, branch };
  const runs = services.some((each) => each.branch === branch && each.pid !== null);
  const holdsPorts = checkouts.some((each) => each.branch === branch);
  return (
    <div class="branch">
      <span class="strong">{branch}</span>
      {holdsPorts ? <span class="badge">canonical ports</span> : null}
      <span class="sub">{row.directory ?? 'no worktree'}</span>
      <div class="cell-actions">
        <Button
          icon="start"
          compact
          kind="quiet"
          changes
          onClick={() => actAndTell('start', branch, 'services.start', params)}
        >{`Start all of ${branch}`}</Button>
        {runs ? (
          <>
            <Button
              icon="reload"
              compact
              kind="quiet"
              changes
              onClick={() => actAndTell('restart', branch, 'services.restart', params)}
            >{`Restart all of ${branch}`}</Button>
            <Button
              icon="stop"
              compact
              kind="quiet"
              changes
              onClick={() => actAndTell('stop', branch, 'services.stop', params)}
            >{`Stop all of ${branch}`}</Button>
          </>
        ) : null}
        {holdsPorts ? null : (
          <Button
            kind="quiet"
            changes
            title="Point the canonical ports to this branch"
            onClick={() => actAndTell('check out', branch, 'projects.checkout', params)}
          >
            Check out
          </Button>
        )}
        <a class="button button-quiet" href={hrefOf('switchyard', [directory, branch])}>
          Logs
        </a>
      </div>
    </div>
  );
}

interface OfService {
  readonly directory: string;
  readonly branch: string;
  readonly service: string;
}

const logsOf = ({ directory, branch, service }: OfService): ComponentChildren => (
  <a class="button button-quiet" href={hrefOf('switchyard', [directory, branch, service])}>
    Logs
  </a>
);

function StartService({ params }: { params: OfService }): ComponentChildren {
  const label = `${params.service} of ${params.branch}`;
  return (
    <Button
      icon="start"
      compact
      kind="quiet"
      changes
      onClick={() => actAndTell('start', label, 'services.start', params)}
    >{`Start ${label}`}</Button>
  );
}

/** A service that was stopped or never started. */
const StoppedCell = ({ params }: { params: OfService }): ComponentChildren => (
  <div class="service">
    <span class="state state-stopped">
      <span class="dot" aria-hidden="true" />
      stopped
    </span>
    <div class="cell-actions">
      <StartService params={params} />
      {logsOf(params)}
    </div>
  </div>
);

function ServiceCell({ directory, service }: { directory: string; service: YardService }): ComponentChildren {
  const { branch, service: name, state, port, url, since, note, errors, holder, pid } = service;
  const params = { directory, branch, service: name };
  const label = `${name} of ${branch}`;
  return (
    <div class="service">
      <span class={`state state-${TONES[state] ?? 'stopped'}`}>
        <span class="dot" aria-hidden="true" />
        {state}
        {since === null || pid === null ? null : (
          <span class="state-seconds">{formatDuration(now.value - since)}</span>
        )}
      </span>
      {url === null ? null : (
        <a href={url} target="_blank" rel="noopener noreferrer">
          {url.replace(/^https?:\/\//, '')}
        </a>
      )}
      {port === null ? null : (
        <span class="muted">
          port {port}
          {pid === null ? '' : `, process ${pid}`}
        </span>
      )}
      {note === null ? null : <span class="bad">{note}</span>}
      {holder === null ? null : (
        <span class="bad">
          {holder.address} is in use by {holder.pid === null ? 'another program' : `process ${holder.pid}`}
        </span>
      )}
      {errors.slice(0, 2).map((error) => (
        <code key={error} class="bad">
          {error}
        </code>
      ))}
      <div class="cell-actions">
        {pid === null ? (
          <StartService params={params} />
        ) : (
          <>
            <Button
              icon="reload"
              compact
              kind="quiet"
              changes
              onClick={() => actAndTell('restart', label, 'services.restart', params)}
            >{`Restart ${label}`}</Button>
            <Button
              icon="stop"
              compact
              kind="quiet"
              changes
              onClick={() => actAndTell('stop', label, 'services.stop', params)}
            >{`Stop ${label}`}</Button>
          </>
        )}
        {logsOf(params)}
      </div>
    </div>
  );
}
