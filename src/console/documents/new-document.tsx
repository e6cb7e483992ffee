import { useState } from 'preact/hooks'
import { useAction, useApi } from '../calls.ts'
import { go } from '../route.ts'
import { Button, Choice, Field } from '../ui/controls.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Problem } from '../ui/notice.tsx'
import { type Kind, kinds, nothing } from './kinds.ts'
import { consoleUser } from './user.ts'

interface NewDocumentProps {
  readonly organizationId: string
  readonly onClose: () => void
}

/** Makes a document with one empty editor, and opens it. */
export function NewDocument({ organizationId, onClose }: NewDocumentProps) {
  const api = useApi()
  const [documentId, setDocumentId] = useState('')
  const [documentName, setDocumentName] = useState('')
  const [editorId, setEditorId] = useState('main')
  const [contentKey, setContentKey] = useState('content')
  const [type, setType] = useState<Kind>('text')
  const { run, busy, error } = useAction(async () => {
    const content = { documentId, editorId, contentKey, type, data: nothing[type] }
    await api.call('/v2/crdt/add', { organizationId, ...content, userId: consoleUser.id })
    if (documentName !== '') await name()
    go('documents', organizationId, documentId, editorId)
  })
  const name = () =>
    api.call('/v2/organizations/documents/update', {
      organizationId,
      documents: [{ documentId, documentName }],
    })
  return (
    <Dialog title="New document" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void run()
        }}
      >
        <Field label="Document id" value={documentId} onInput={setDocumentId} required />
        <Field label="Name" value={documentName} onInput={setDocumentName} hint="May be left out." />
        <Field label="Editor id" value={editorId} onInput={setEditorId} required />
        <Choice label="Content" value={type} options={kinds} onChange={setType} />
        <Field
          label="Root"
          value={contentKey}
          onInput={setContentKey}
          hint="Name of the shared type, as your editor knows it."
          required
        />
        <Problem error={error} />
        <p class="row">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={busy}>
            Make the document
          </Button>
        </p>
      </form>
    </Dialog>
  )
}
