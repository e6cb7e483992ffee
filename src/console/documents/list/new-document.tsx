import { useState } from 'preact/hooks'
import { useAction, useApi } from '../../api/hooks.ts'
import { navigate } from '../../routing/route.ts'
import { Button, Select, TextField } from '../../ui/controls.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ErrorNotice } from '../../ui/notice.tsx'
import { consoleUser } from '../console-user.ts'
import { emptyContent, type RootType, rootTypes } from '../content/root-types.ts'

interface NewDocumentProps {
  readonly organizationId: string
  readonly onClose: () => void
}

/** Shows a form that creates a document with one empty editor. Opens the new document. */
export function NewDocumentForm({ organizationId, onClose }: NewDocumentProps) {
  const api = useApi()
  const [documentId, setDocumentId] = useState('')
  const [documentName, setDocumentName] = useState('')
  const [editorId, setEditorId] = useState('main')
  const [contentKey, setContentKey] = useState('content')
  const [type, setType] = useState<RootType>('text')
  const { run, busy, error } = useAction(async () => {
    const content = { documentId, editorId, contentKey, type, data: emptyContent[type] }
    await api.call('/v2/crdt/add', { organizationId, ...content, userId: consoleUser.id })
    if (documentName !== '') await name()
    navigate('documents', organizationId, documentId, editorId)
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
        <TextField label="Document id" value={documentId} onInput={setDocumentId} required />
        <TextField label="Name" value={documentName} onInput={setDocumentName} hint="Optional." />
        <TextField label="Editor id" value={editorId} onInput={setEditorId} required />
        <Select label="Content" value={type} options={rootTypes} onChange={setType} />
        <TextField
          label="Root"
          value={contentKey}
          onInput={setContentKey}
          hint="Name of the shared type, as your editor knows it."
          required
        />
        <ErrorNotice error={error} />
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
