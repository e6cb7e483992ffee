import { useEffect, useMemo } from 'preact/hooks'
import type { CrdtGetDataItem } from '../../../client/api/operation-types.ts'
import { useApi, useAsync } from '../../api/hooks.ts'
import { LocalTime } from '../../ui/controls.tsx'
import { formatBytes, formatCounted } from '../../ui/format.ts'
import { EmptyNotice, ReadState } from '../../ui/notice.tsx'
import { DefinitionList } from '../../ui/table.tsx'
import { toComparableLines } from '../content/content-text.ts'
import type { EditorViewProps } from '../editor.ts'
import { useRoot } from '../fields.tsx'
import type { LiveDocument } from './live-document.ts'

/** Minimum time in ms between two requests for the values of the server. */
const askEveryMs = 5_000

interface StatisticsProps {
  readonly live: LiveDocument
  readonly head: CrdtGetDataItem
  /** Called when the values of the server may have changed. */
  readonly onChanged: () => void
}

/** Shows the size and the structure of the document, and the user who changed the document last. */
function EditorStatistics({ live: { doc, connection }, head, onChanged }: StatisticsProps) {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const changed = () => {
      timer ??= setTimeout(() => {
        timer = undefined
        onChanged()
      }, askEveryMs)
    }
    doc.on('update', changed)
    return () => {
      doc.off('update', changed)
      clearTimeout(timer)
    }
  }, [doc])
  const { statistics } = head
  return (
    <>
      <DefinitionList
        inline
        of={[
          ['Size', formatBytes(head.sizeBytes)],
          ['Structs', statistics?.structs.toLocaleString()],
          ['Tombstones', statistics?.tombstones.toLocaleString()],
          ['Sessions so far', statistics?.clients.toLocaleString()],
          ['Last change', <LocalTime key="at" at={head.lastUpdate} />],
          ['By', head.lastUpdatedBy || 'unknown'],
          ['Schema', head.schema],
          ['State', connection.kind === 'live' ? 'live' : 'not connected'],
        ]}
      />
      <details class="version">
        <summary>Version</summary>
        <code>{head.version}</code>
      </details>
    </>
  )
}

/** Maximum number of characters of a root that are shown. */
const charactersMax = 20_000

interface RootProps extends EditorViewProps {
  /** Version of the editor. When it changes, the content is read again. */
  readonly version: string
}

/** Shows the content of one root as text: JSON and XML with indented lines. */
function RootContent({ address, roots, version }: RootProps) {
  const api = useApi()
  const [contentKey, rootField] = useRoot(roots)
  const request = { ...address, contentKey }
  const { data, error, loading } = useAsync(
    () => api.call<readonly CrdtGetDataItem[]>('/v2/crdt/get', request),
    JSON.stringify([request, version]),
  )
  const content = data?.[0]
  const text = useMemo(() => (content === undefined ? '' : toComparableLines(content)), [content])
  return (
    <>
      {rootField}
      <ReadState error={error} loading={loading && data === null} />
      {content !== undefined && <RootText name={content.contentKey} text={text} />}
    </>
  )
}

interface RootTextProps {
  readonly name: string
  readonly text: string
}

function RootText({ name, text }: RootTextProps) {
  const hidden = text.length - charactersMax
  if (text === '') return <EmptyNotice>This root is empty.</EmptyNotice>
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard */}
      <section class="difference code" tabIndex={0} aria-label={`Root ${name}`}>
        {text.slice(0, charactersMax)}
      </section>
      {hidden > 0 && <p class="hint">{formatCounted(hidden, 'more character')}</p>}
    </>
  )
}

/** Shows the size of an editor, and the content of its roots as JSON or XML. */
export const StructureView = ({ address, roots, ...statistics }: EditorViewProps & StatisticsProps) => (
  <>
    <EditorStatistics {...statistics} />
    <h2>Content</h2>
    <RootContent {...{ address, roots }} version={statistics.head.version} />
    <p class="hint">
      The presence list of the server contains you as the viewer “Console”, and webhooks get join and leave
      events of the user <code>console</code>.
    </p>
  </>
)
