/** A form for a request that a server sends while one of its tools runs. */
import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { Problem } from '../../../protocol.ts';
import { Button } from '../../parts/button.tsx';
import { isWebAddress } from '../../parts/format.ts';
import { JsonTree } from '../../parts/json-tree.tsx';
import { ProblemNotice } from '../../parts/notice.tsx';
import { ContentPart } from '../../parts/tool-result.tsx';
import { SchemaForm } from '../../schema/form.tsx';
import { problemsOf } from '../../schema/problems.ts';
import { isSchema, schemaText, type JsonSchema } from '../../schema/resolve.ts';
import { initialValue } from '../../schema/value.ts';
import { answerRequest, type JsonObjectValue, type TrialRequest, type ToolName } from '../../state/trials.ts';

interface RequestProps {
  readonly name: ToolName;
  readonly request: TrialRequest;
}

interface AnswerProps {
  readonly params: JsonSchema;
  readonly onResult: (result: JsonObjectValue) => Promise<void>;
  readonly onRefuse: () => Promise<void>;
}

/** The code for a request that a user declined. */
const REFUSED = { code: -1, message: 'The user refused the request' };

export function RequestForm({ name, request }: RequestProps): ComponentChildren {
  const [problem, setProblem] = useState<Problem | null>(null);
  const props: AnswerProps = {
    params: request.params,
    onResult: async (result) => setProblem(await answerRequest(name, request.request, { result })),
    onRefuse: async () => setProblem(await answerRequest(name, request.request, { error: REFUSED })),
  };
  return (
    <div class="request" role="group" aria-label="The server asks">
      {request.method === 'elicitation/create' ? (
        request.params.mode === 'url' ? (
          <UrlElicitation {...props} />
        ) : (
          <Elicitation {...props} />
        )
      ) : request.method === 'sampling/createMessage' ? (
        <Sampling {...props} />
      ) : (
        <OtherRequest {...props} method={request.method} />
      )}
      {problem === null ? null : <ProblemNotice problem={problem} />}
    </div>
  );
}

function Elicitation({ params, onResult }: AnswerProps): ComponentChildren {
  const schema = isSchema(params.requestedSchema)
    ? params.requestedSchema
    : { type: 'object', properties: {} };
  const [content, setContent] = useState(() => initialValue(schema, schema));
  const problems = problemsOf(content, schema, schema);
  return (
    <>
      <h3>The server asks for input</h3>
      <p class="plain-text">{schemaText(params.message) ?? ''}</p>
      <SchemaForm schema={schema} root={schema} value={content} problems={problems} onChange={setContent} />
      <div class="form-foot">
        <Button
          kind="main"
          disabled={problems.length > 0}
          onClick={() =>
            onResult({ action: 'accept', content: JSON.parse(JSON.stringify(content)) as unknown })
          }
        >
          Accept
        </Button>
        <Button onClick={() => onResult({ action: 'decline' })}>Decline</Button>
        <Button kind="quiet" onClick={() => onResult({ action: 'cancel' })}>
          Dismiss
        </Button>
      </div>
    </>
  );
}

function UrlElicitation({ params, onResult }: AnswerProps): ComponentChildren {
  const url = schemaText(params.url) ?? '';
  return (
    <>
      <h3>The server asks you to open a page</h3>
      <p class="plain-text">{schemaText(params.message) ?? ''}</p>
      <p>
        {isWebAddress(url) ? (
          <a href={url} target="_blank" rel="noopener noreferrer">
            {url}
          </a>
        ) : (
          <code>{url}</code>
        )}
      </p>
      <div class="form-foot">
        <Button kind="main" onClick={() => onResult({ action: 'accept' })}>
          Accept
        </Button>
        <Button onClick={() => onResult({ action: 'decline' })}>Decline</Button>
      </div>
    </>
  );
}

function Sampling({ params, onResult, onRefuse }: AnswerProps): ComponentChildren {
  const id = useId();
  const [reply, setReply] = useState('');
  const messages = Array.isArray(params.messages) ? (params.messages as unknown[]).filter(isSchema) : [];
  return (
    <>
      <h3>The server asks for a model’s response</h3>
      {schemaText(params.systemPrompt) === null ? null : (
        <p class="muted">System prompt: {schemaText(params.systemPrompt)}</p>
      )}
      {messages.map((message, index) => (
        <div key={index} class="request-message">
          <p class="muted">{schemaText(message.role)}</p>
          {(Array.isArray(message.content) ? (message.content as unknown[]) : [message.content]).map(
            (part, place) => (
              <ContentPart key={place} part={part} />
            ),
          )}
        </div>
      ))}
      <label class="field-name" for={id}>
        Your response in place of the model’s
      </label>
      <textarea
        id={id}
        class="input"
        rows={4}
        value={reply}
        onInput={(event) => setReply(event.currentTarget.value)}
      />
      <div class="form-foot">
        <Button
          kind="main"
          disabled={reply === ''}
          onClick={() =>
            onResult({
              role: 'assistant',
              content: { type: 'text', text: reply },
              model: 'a person, at the console',
              stopReason: 'endTurn',
            })
          }
        >
          Send
        </Button>
        <Button onClick={onRefuse}>Refuse</Button>
      </div>
    </>
  );
}

function OtherRequest({
  params,
  method,
  onRefuse,
}: AnswerProps & { readonly method: string }): ComponentChildren {
  return (
    <>
      <h3>
        The server asks for <code>{method}</code>
      </h3>
      <JsonTree value={params} label="Parameters of the request" />
      <div class="form-foot">
        <Button onClick={onRefuse}>Refuse</Button>
      </div>
    </>
  );
}
