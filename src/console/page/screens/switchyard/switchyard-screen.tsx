import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { YardProject } from '../../../protocol.ts';
import { Select } from '../../parts/fields.tsx';
import { Split, Toolbar } from '../../parts/layout.tsx';
import { EmptyState, Loading } from '../../parts/notice.tsx';
import { chooseTopic } from '../../state/connect.ts';
import { projects } from '../../state/live.ts';
import { goTo, hrefOf, route } from '../../state/route.ts';
import { PortLookup } from './port-lookup.tsx';
import { ProjectTable } from './project-table.tsx';
import { ServiceLogs } from './service-logs.tsx';

/** The path is the directory of a project, then the branch and service whose logs are shown. */
export function SwitchyardScreen(): ComponentChildren {
  useEffect(() => chooseTopic('projects'), []);
  const all = projects.value;
  if (all === null) return <Loading what="projects" />;
  if (all.length === 0) return <NoProjects />;
  const { path } = route.value;
  const [wished, branch, service] = path;
  const chosen = all.find(({ directory }) => directory === wished);
  const shown = chosen === undefined ? all : [chosen];
  return (
    <Split
      detail={
        chosen === undefined || branch === undefined ? null : (
          <ServiceLogs
            key={path.join('\n')}
            project={chosen}
            branch={branch}
            service={service ?? null}
            onClose={() => goTo(hrefOf('switchyard', [chosen.directory]))}
          />
        )
      }
    >
      <Toolbar>
        <Select
          label="Project"
          value={chosen?.directory ?? ''}
          options={[
            { value: '', title: `All (${all.length})` },
            ...all.map(({ name, directory }) => ({ value: directory, title: name })),
          ]}
          onChange={(directory) =>
            goTo(directory === '' ? hrefOf('switchyard') : hrefOf('switchyard', [directory]))
          }
        />
        <span class="grow" />
        <PortLookup />
      </Toolbar>
      <div class="page yard" tabIndex={0} role="group" aria-label="Projects">
        {shown.map((project: YardProject) => (
          <ProjectTable key={project.directory} project={project} />
        ))}
      </div>
    </Split>
  );
}

const NoProjects = (): ComponentChildren => (
  <EmptyState title="No projects yet">
    <p>
      Switchyard runs the services of every branch of a repository, each with its own ports and addresses.
    </p>
    <p>
      To add a project, run <code>switchyard init</code> and <code>switchyard up</code> in its repository.
    </p>
    <PortLookup />
  </EmptyState>
);
