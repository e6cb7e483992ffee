import { useState } from 'preact/hooks'
import { useAction, useApi } from '../api/hooks.ts'
import { Button, Select, TextField } from '../ui/controls.tsx'
import { Form } from '../ui/form.tsx'
import { ActionOutcome } from '../ui/notice.tsx'

interface NewFolderProps {
  readonly organizationId: string
  readonly parent: string
  readonly onChange: () => void
}

export function NewFolder({ organizationId, parent, onChange }: NewFolderProps) {
  const api = useApi()
  const [folderId, setId] = useState('')
  const [folderName, setName] = useState('')
  const make = useAction(async () => {
    const folders = [{ folderId, folderName, parentFolderId: parent }]
    await api.callBatch('/v1/organizations/folders/add', { organizationId, folders })
    setId('')
    setName('')
    onChange()
    return `The folder ${folderId} is made.`
  })
  return (
    <Form label="New folder" onSubmit={() => void make.run()}>
      <h3>New folder here</h3>
      <div class="row">
        <TextField label="Folder id" value={folderId} onInput={setId} required />
        <TextField label="Name" value={folderName} onInput={setName} />
        <Button type="submit" busy={make.busy}>
          Make folder
        </Button>
      </div>
      <ActionOutcome {...make} />
    </Form>
  )
}

interface NameFormProps {
  readonly name: string
  readonly onName: (name: string) => Promise<void>
}

export function NameForm({ name, onName }: NameFormProps) {
  const [text, setText] = useState(name)
  const rename = useAction(async () => {
    await onName(text)
    return 'Renamed.'
  })
  return (
    <Form label="Rename" onSubmit={() => void rename.run()}>
      <div class="row">
        <TextField label="Name" value={text} onInput={setText} />
        <Button type="submit" busy={rename.busy}>
          Rename
        </Button>
      </div>
      <ActionOutcome {...rename} />
    </Form>
  )
}

interface MoveFormProps {
  readonly label: string
  readonly value: string
  readonly places: readonly (readonly [string, string])[]
  readonly onMove: (to: string) => Promise<void>
}

/** Shows a form that selects the target folder of a move. */
export function MoveForm({ label, value, places, onMove }: MoveFormProps) {
  const [to, setTo] = useState(value)
  const move = useAction(async () => {
    await onMove(to)
    return 'Moved.'
  })
  return (
    <Form label={label} onSubmit={() => void move.run()}>
      <div class="row">
        <Select label={label} value={to} options={places} onChange={setTo} />
        <Button type="submit" busy={move.busy}>
          Move
        </Button>
      </div>
      <ActionOutcome {...move} />
    </Form>
  )
}
