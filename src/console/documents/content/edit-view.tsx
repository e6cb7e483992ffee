import { Notice } from '../../ui/notice.tsx'
import { isEditable } from './edit-draft.ts'
import { EditForm } from './edit-form.tsx'
import { type RootProps, useRootContent } from './root-content.tsx'

/** Lets the user change parts of the content of one root. */
export function EditView(props: RootProps) {
  const { content, controls, readAgain } = useRootContent(props)
  return (
    <>
      <h2>Edit content</h2>
      <p>Weft changes only the text that your edits name. All edits are applied, or none.</p>
      {controls}
      {content !== undefined &&
        (isEditable(content) ? (
          <EditForm
            key={content.contentKey + content.type}
            address={props.address}
            base={content}
            onReadAgain={readAgain}
          />
        ) : (
          <Notice>This root of type “{content.type}” has no text to edit.</Notice>
        ))}
    </>
  )
}
