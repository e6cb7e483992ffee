import { useState } from 'preact/hooks'
import { useQuery } from '../../api/hooks.ts'
import { CodeSample } from '../../ui/code-sample.tsx'
import { Button } from '../../ui/controls.tsx'
import { ErrorNotice } from '../../ui/notice.tsx'
import { LocalTime } from '../../ui/time.tsx'
import type { ContentViewProps } from './root-content.tsx'

interface StoredSchema {
  readonly name: string
  readonly lastUpdated: string
}

/** Maximum number of stored schemas that are listed, which is also the maximum of an API key. */
const listedMax = 100

/** Shows the schema of an editor, and the schemas that the API key has stored. */
export function SchemaView({ schema }: ContentViewProps) {
  const { data: stored, error } = useQuery<readonly StoredSchema[]>('/v2/crdt/schemas/list', {
    pageSize: listedMax,
  })
  const [name, setName] = useState(schema)
  return (
    <>
      <h2>Schema</h2>
      {schema === undefined ? (
        <p>
          No schema is attached to this editor, so writes by REST may contain any content. To attach one, send{' '}
          <code>schema</code> with a write.
        </p>
      ) : (
        <p>
          The schema <code>{schema}</code> is attached to this editor. Writes by REST must match it.
        </p>
      )}
      <h2>Stored schemas</h2>
      {error !== null && <ErrorNotice error={error} />}
      {stored?.length === 0 && <p class="hint">This API key has no stored schemas.</p>}
      {stored !== null && stored.length > 0 && (
        <ul>
          {stored.map((each) => (
            <li key={each.name}>
              <Button onClick={() => setName(each.name)}>{each.name}</Button>{' '}
              <span class="hint">
                stored <LocalTime at={each.lastUpdated} />
              </span>
            </li>
          ))}
        </ul>
      )}
      {stored?.some((each) => each.name === name) === true && name !== undefined && (
        <Definition name={name} />
      )}
    </>
  )
}

function Definition({ name }: { readonly name: string }) {
  const { data, error } = useQuery<{ readonly schema: object }>('/v2/crdt/schemas/get', { name })
  if (error !== null) return <ErrorNotice error={error} />
  if (data === null) return <p class="hint">Reading…</p>
  return <CodeSample label={`schema ${name}`} code={JSON.stringify(data.schema, null, 2)} />
}
