import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import { Select } from '../../ui/controls.tsx'
import { ReplaceEditor } from './replace-editor.tsx'
import { type RootProps, useRootContent } from './root-content.tsx'
import { emptyContent, type RootType, rootTypes } from './root-types.ts'

/** Lets the user replace the content of one root. */
export function ReplaceView(props: RootProps) {
  const { content, controls, readAgain } = useRootContent(props)
  // An empty root without a stored type can get any type. The server returns the type `text` for such a root.
  const isEmpty = content?.type === 'text' && content.data === ''
  const [kind, setKind] = useState<RootType>('text')
  const base = isEmpty ? { ...content, type: kind, data: emptyContent[kind] } : content
  return (
    <>
      <h2>Replace content</h2>
      <p>
        Weft applies only the differences that you make here. Concurrent edits of other users stay, and
        connected users see your change at once.
      </p>
      {controls}
      {isEmpty && (
        <Select label="Content of the empty root" value={kind} options={rootTypes} onChange={setKind} />
      )}
      {base !== undefined && (
        // The key creates a new form whenever the content has been read again. The old form stays until then.
        <Fragment key={content}>
          <ReplaceEditor key={base.type} address={props.address} base={base} onReadAgain={readAgain} />
        </Fragment>
      )}
    </>
  )
}
