import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ToolInfo } from '../../../protocol.ts';
import { Markdown } from '../../markdown/markdown.tsx';
import { Button } from '../../parts/button.tsx';
import { formatDuration, formatMs } from '../../parts/format.ts';
import { EmptyState, ProblemNotice } from '../../parts/notice.tsx';
import { ResultServer, ToolResult } from '../../parts/tool-result.tsx';
import { ValueEditor } from '../../schema/value-editor.tsx';
import { initialValue } from '../../schema/value.ts';
import { isSchema } from '../../schema/resolve.ts';
import { act } from '../../state/act.ts';
import { now } from '../../state/clock.ts';
import { readOnly } from '../../state/live.ts';
import { hrefOf, route } from '../../state/route.ts';
import {
  cancelTool,
  runTool,
  setArguments,
  trialOf,
  type JsonObjectValue,
  type ToolName,
  type Trial,
} from '../../state/trials.ts';
import { RequestForm } from './request-form.tsx';

interface ToolTrialProps {
  readonly name: ToolName;
  readonly info: ToolInfo;
}

/** One tool: its description, its arguments and its result. */
export function ToolTrial({ name, info }: ToolTrialProps): ComponentChildren {
  const trial = trialOf(name).value;
  const [valid, setValid] = useState(true);
  const ready = useArguments(name, info, trial);
  const run = (): void => {
    if (valid && !readOnly.value) void runTool(name);
  };
  return (
    <div
      class="trial"
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        run();
      }}
    >
      <div class="trial-form">
        <ToolHead name={name} info={info} />
        {ready ? (
          <ValueEditor
            schema={info.inputSchema}
            value={trial.args ?? {}}
            textLabel={`Arguments of ${info.name} as JSON`}
            onChange={(value, isValid) => {
              setValid(isValid);
              if (isSchema(value)) setArguments(name, value);
            }}
          />
        ) : null}
        <div class="trial-run">
          <Button
            kind="main"
            icon="start"
            changes
            disabled={!valid || trial.running !== null}
            title="Ctrl + Enter"
            onClick={run}
          >
            Run
          </Button>
          {trial.running === null ? null : (
            <Button icon="stop" onClick={() => cancelTool(name)}>
              Cancel
            </Button>
          )}
          <Button
            kind="quiet"
            disabled={trial.running !== null}
            onClick={() => setArguments(name, beginning(info))}
          >
            Reset
          </Button>
        </div>
      </div>
      <section class="trial-result" aria-label="Result">
        <TrialOutcome name={name} trial={trial} />
      </section>
    </div>
  );
}

function ToolHead({ name, info }: ToolTrialProps): ComponentChildren {
  const hints = Object.entries(info.annotations ?? {}).flatMap(([key, value]) =>
    value === true
      ? [key.replace(/Hint$/, '').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)]
      : [],
  );
  return (
    <header class="trial-head">
      <p class="back-link">
        <a href={hrefOf('try', [name.gateway, name.server])}>← All tools of {name.server}</a>
      </p>
      <h2>
        <code>{info.name}</code>
        {hints.map((hint) => (
          <span key={hint} class="badge" title="Annotation from the server">
            {hint}
          </span>
        ))}
      </h2>
      {info.description === null ? (
        <p class="muted">No description.</p>
      ) : (
        <Markdown text={info.description} />
      )}
    </header>
  );
}

const beginning = (info: ToolInfo): JsonObjectValue => {
  const value = initialValue(info.inputSchema, info.inputSchema);
  return isSchema(value) ? value : {};
};

/** Starts with the required arguments, or with those of the call to repeat. */
function useArguments(name: ToolName, info: ToolInfo, trial: Trial): boolean {
  const call = route.value.query.call;
  const [waiting, setWaiting] = useState(call !== undefined);
  useEffect(() => {
    if (call === undefined) {
      if (trial.args === null) setArguments(name, beginning(info));
      return;
    }
    void act('calls.get', { gateway: name.gateway, call }).then((response) => {
      const kept = response.ok ? response.result.arguments?.text : undefined;
      setArguments(name, argumentsOf(kept) ?? beginning(info));
      setWaiting(false);
    });
  }, []);
  return !waiting && trial.args !== null;
}

/** The arguments of the tool itself: a suite receives them wrapped. */
function argumentsOf(kept: string | undefined): JsonObjectValue | undefined {
  try {
    const value: unknown = JSON.parse(kept ?? '');
    if (!isSchema(value)) return undefined;
    return value.action === 'call' && isSchema(value.args) ? value.args : value;
  } catch {
    return undefined;
  }
}

function TrialOutcome({ name, trial }: { name: ToolName; trial: Trial }): ComponentChildren {
  const { running, requests, log, outcome } = trial;
  return (
    <>
      {running === null ? null : <RunningTrial running={running} />}
      {requests.map((request) => (
        <RequestForm key={request.request} name={name} request={request} />
      ))}
      {outcome === null ? null : (
        <p class="trial-time" role="status">
          {outcome.kind === 'done' ? 'Returned' : 'Failed'} after {formatMs(outcome.ms)}
        </p>
      )}
      {outcome?.kind === 'failed' ? <ProblemNotice problem={outcome.problem} /> : null}
      {outcome?.kind === 'done' ? (
        <ResultServer.Provider value={name}>
          <ToolResult key={outcome.ms} result={outcome.result} />
        </ResultServer.Provider>
      ) : null}
      {log.length === 0 ? null : (
        <pre class="log-end" tabIndex={0} aria-label="What the server logged">
          {log
            .map(({ level, data }) => `${level} ${typeof data === 'string' ? data : JSON.stringify(data)}`)
            .join('\n')}
        </pre>
      )}
      {running === null && outcome === null ? (
        <EmptyState title="Not run yet">
          <p>The result appears here: text, JSON, images, audio and resources.</p>
          <p>
            Press <kbd>Ctrl</kbd>+ <kbd>Enter</kbd> to run the tool.
          </p>
        </EmptyState>
      ) : null}
    </>
  );
}

function RunningTrial({ running }: { running: NonNullable<Trial['running']> }): ComponentChildren {
  const { progress, since } = running;
  const total = progress?.total ?? null;
  return (
    <div class="trial-progress">
      <p role="status">
        <span class="spinner" aria-hidden="true" /> Running {formatDuration(now.value - since)}
        {progress === null ? '' : `, ${progress.progress}${total === null ? '' : ` of ${total}`}`}
        {typeof progress?.message === 'string' ? `: ${progress.message}` : ''}
      </p>
      {total === null ? null : (
        <progress aria-label="Progress" max={total} value={Math.min(total, progress?.progress ?? 0)} />
      )}
    </div>
  );
}
