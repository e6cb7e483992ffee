import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import { useQuery } from '../../api/hooks.ts'
import { Select } from '../../ui/controls.tsx'
import { ActionOutcome } from '../../ui/notice.tsx'
import type { EditorAddress } from '../live/live-view.ts'
import type { EditableContent } from './content-text.ts'
import type { EditorInfo } from './editor-info.ts'
import { ReplaceEditor } from './replace-editor.tsx'
import { emptyContent, type RootType, rootTypes } from './root-types.ts'

interface ReplaceProps {
  readonly address: EditorAddress
  readonly roots: readonly string[]
}

/** Lets the user replace the content of one root. */
export function ReplaceView({ address, roots }: ReplaceProps) {
  const [root, setRoot] = useState(roots[0])
  const { data, error, reload } = useQuery<readonly (EditorInfo & EditableContent)[]>('/v2/crdt/get', {
    ...address,
    ...(root !== undefined && { contentKey: root }),
  })
  const read = data?.[0]
  // An empty root without a stored type can get any type. The server returns the type `text` for such a root.
  const isEmpty = read?.type === 'text' && read.data === ''
  const [kind, setKind] = useState<RootType>('text')
  const base = isEmpty && read !== undefined ? { ...read, type: kind, data: emptyContent[kind] } : read
  const [message, setMessage] = useState<string | null>(null)
  // Shows the result and reads the content again, so that the next change starts with the new content.
  const readAgain = (done: string | null) => {
    setMessage(done)
    reload()
  }
  return (
    <>
      <h2>Replace content</h2>
      <p>
        Weft applies only the differences that you make here. Concurrent edits of other users stay, and
        connected users see your change at once.
      </p>
      {roots.length > 1 && (
        <Select
          label="Root"
          value={root ?? ''}
          options={roots.map((name) => [name, name] as const)}
          onChange={setRoot}
        />
      )}
      {isEmpty && (
        <Select label="Content of the empty root" value={kind} options={rootTypes} onChange={setKind} />
      )}
      <ActionOutcome error={error} done={message} />
      {base !== undefined && base.contentKey === (root ?? base.contentKey) && (
        // The key creates a new form whenever the content has been read again. The old form stays until then.
        <Fragment key={read}>
          <ReplaceEditor key={base.type} address={address} base={base} onReadAgain={readAgain} />
        </Fragment>
      )}
    </>
  )
}
