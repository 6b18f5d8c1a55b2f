/** The result of a tool; each part is shown according to its type. */
import { createContext, type ComponentChildren } from 'preact';
import { useContext, useState } from 'preact/hooks';
import type { Problem } from '../../protocol.ts';
import { Markdown } from '../markdown/markdown.tsx';
import { act } from '../state/act.ts';
import { Button, CopyButton } from './button.tsx';
import { ChoiceBar } from './fields.tsx';
import { formatBytes } from './format.ts';
import { JsonTree } from './json-tree.tsx';
import { ProblemNotice } from './notice.tsx';

type JsonObject = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

export const isToolResult = (value: unknown): value is JsonObject =>
  isRecord(value) && (Array.isArray(value.content) || 'structuredContent' in value);

type ResultView = 'shown' | 'tree' | 'raw';

export function ToolResult({ result }: { result: JsonObject }): ComponentChildren {
  const [view, setView] = useState<ResultView>('shown');
  const content = Array.isArray(result.content) ? (result.content as unknown[]) : [];
  const raw = JSON.stringify(result, null, 2);
  return (
    <div class="result">
      <div class="result-head">
        <ChoiceBar
          label="Show the result as"
          value={view}
          options={[
            { value: 'shown', title: 'Content' },
            { value: 'tree', title: 'Tree' },
            { value: 'raw', title: 'Raw' },
          ]}
          onChange={setView}
        />
        {result.isError === true ? <span class="bad">The tool returned an error</span> : null}
        <span class="grow" />
        <CopyButton text={raw} name="Copy the result as JSON" />
      </div>
      {view === 'raw' ? (
        <pre class="code code-tall" tabIndex={0} aria-label="The result as JSON">
          {raw}
        </pre>
      ) : view === 'tree' ? (
        <JsonTree value={result} label="The result as a tree" />
      ) : (
        <>
          {content.map((part, index) => (
            <ContentPart key={index} part={part} />
          ))}
          {'structuredContent' in result ? (
            <Part title="Structured content">
              <JsonTree value={result.structuredContent} label="Structured content" />
            </Part>
          ) : null}
          {content.length === 0 && !('structuredContent' in result) ? (
            <p class="muted">The result is empty.</p>
          ) : null}
        </>
      )}
    </div>
  );
}

const Part = ({ title, children }: { title: string; children: ComponentChildren }): ComponentChildren => (
  <div class="result-part">
    <p class="result-title">{title}</p>
    {children}
  </div>
);

/** Content of an unknown type is shown as JSON. */
export function ContentPart({ part }: { part: unknown }): ComponentChildren {
  const content = isRecord(part) ? part : {};
  const mime = text(content.mimeType);
  switch (content.type) {
    case 'text':
      return <TextPart value={text(content.text)} />;
    case 'image':
      return mime.startsWith('image/') ? (
        <Part title={`Image, ${mime}, ${formatBytes(base64Bytes(text(content.data)))}`}>
          <img
            class="result-image"
            src={`data:${mime};base64,${text(content.data)}`}
            alt={`From the tool, ${mime}`}
          />
        </Part>
      ) : (
        <Unknown part={part} />
      );
    case 'audio':
      return mime.startsWith('audio/') ? (
        <Part title={`Audio, ${mime}`}>
          <audio controls src={`data:${mime};base64,${text(content.data)}`} />
        </Part>
      ) : (
        <Unknown part={part} />
      );
    case 'resource':
      return isRecord(content.resource) ? (
        <ResourcePart resource={content.resource} />
      ) : (
        <Unknown part={part} />
      );
    case 'resource_link':
      return <ResourceLink link={content} />;
    default:
      return <Unknown part={part} />;
  }
}

/** The server that returned the result, from which its resources can be read. */
export const ResultServer = createContext<{ readonly gateway: string; readonly server: string } | null>(null);

type Reading =
  | { readonly kind: 'read'; readonly contents: readonly unknown[] }
  | { readonly kind: 'failed'; readonly problem: Problem };

function ResourceLink({ link }: { link: JsonObject }): ComponentChildren {
  const from = useContext(ResultServer);
  const [reading, setReading] = useState<Reading | null>(null);
  const uri = text(link.uri);
  const name = text(link.title) || text(link.name) || uri;
  const read = async (): Promise<void> => {
    if (from === null) return;
    const { gateway, server } = from;
    const response = await act('resources.read', { gateway, server, uri });
    setReading(
      response.ok
        ? { kind: 'read', contents: response.result.contents }
        : { kind: 'failed', problem: response.error },
    );
  };
  return (
    <Part title="Link to a resource">
      <p>
        <strong>{name}</strong> <code>{uri}</code>
      </p>
      <p class="muted">{text(link.description)}</p>
      {from === null ? null : <Button changes onClick={read}>{`Read ${name}`}</Button>}
      {reading?.kind === 'failed' ? <ProblemNotice problem={reading.problem} /> : null}
      {reading?.kind === 'read'
        ? reading.contents.map((resource, index) => (
            <ContentPart key={index} part={{ type: 'resource', resource }} />
          ))
        : null}
    </Part>
  );
}

const Unknown = ({ part }: { part: unknown }): ComponentChildren => (
  <Part title="Content">
    <JsonTree value={part} label="Content" />
  </Part>
);

const base64Bytes = (data: string): number => Math.floor((data.length * 3) / 4);

function ResourcePart({ resource }: { resource: JsonObject }): ComponentChildren {
  const mime = text(resource.mimeType) || 'application/octet-stream';
  const uri = text(resource.uri);
  const blob = text(resource.blob);
  return (
    <Part title={`Resource ${uri}`}>
      {typeof resource.text === 'string' ? (
        <TextPart value={resource.text} />
      ) : mime.startsWith('image/') ? (
        <img class="result-image" src={`data:${mime};base64,${blob}`} alt={uri} />
      ) : (
        <a
          href={`data:application/octet-stream;base64,${blob}`}
          download={uri.split('/').pop() ?? 'resource'}
        >
          Save {formatBytes(base64Bytes(blob))} of {mime}
        </a>
      )}
    </Part>
  );
}

type TextView = 'markdown' | 'plain' | 'json';

/** Shows JSON as a tree, text that looks like Markdown as Markdown, and anything else as plain text. */
function TextPart({ value }: { value: string }): ComponentChildren {
  const json = parsedObject(value);
  const [view, setView] = useState<TextView>(
    json !== undefined ? 'json' : looksLikeMarkdown(value) ? 'markdown' : 'plain',
  );
  return (
    <div class="result-part">
      <div class="result-bar">
        <p class="result-title">Text, {value.length.toLocaleString('en')} characters</p>
        <ChoiceBar
          label="Show the text as"
          value={view}
          options={[
            ...(json === undefined ? [] : [{ value: 'json' as const, title: 'JSON' }]),
            { value: 'markdown', title: 'Markdown' },
            { value: 'plain', title: 'Plain' },
          ]}
          onChange={setView}
        />
        <CopyButton text={value} name="Copy the text" />
      </div>
      {view === 'json' ? (
        <JsonTree value={json} label="Text as JSON" />
      ) : view === 'markdown' ? (
        <Markdown text={value} />
      ) : (
        <pre class="plain-text" tabIndex={0} aria-label="Text">
          {value}
        </pre>
      )}
    </div>
  );
}

function parsedObject(value: string): object | undefined {
  if (!/^\s*[[{]/.test(value)) return undefined;
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === 'object' && parsed !== null ? parsed : undefined;
  } catch {
    return undefined;
  }
}

const looksLikeMarkdown = (value: string): boolean =>
  /^(?:#{1,6} |```|\s*[-*] |\s*\d+\. |> |\|.*\|)|\*\*\S|\]\(https?:/m.test(value.slice(0, 20_000));
