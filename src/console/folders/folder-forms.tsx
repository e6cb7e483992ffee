import { useEffect, useState } from 'preact/hooks'
import { useApi } from '../api/hooks.ts'
import { type AccessTypeName, accessTypes } from '../permissions/permission.ts'
import { Checkbox, Select, TextField } from '../ui/controls.tsx'
import { ActionForm } from '../ui/form.tsx'

interface NewFolderProps {
  readonly organizationId: string
  readonly parent: string
  readonly onChange: () => void
}

export function NewFolder({ organizationId, parent, onChange }: NewFolderProps) {
  const api = useApi()
  const [folderId, setId] = useState('')
  const [folderName, setName] = useState('')
  const create = async () => {
    const folders = [{ folderId, folderName, parentFolderId: parent }]
    await api.callBatch('/v1/organizations/folders/add', { organizationId, folders })
    setId('')
    setName('')
    onChange()
    return `The folder ${folderId} is made.`
  }
  return (
    <>
      <h3>New folder here</h3>
      <ActionForm label="New folder" action="Make folder" act={create}>
        <TextField label="Folder id" value={folderId} onInput={setId} required />
        <TextField label="Name" value={folderName} onInput={setName} />
      </ActionForm>
    </>
  )
}

interface NameFormProps {
  readonly name: string
  readonly onName: (name: string) => Promise<void>
}

export function NameForm({ name, onName }: NameFormProps) {
  const [text, setText] = useState(name)
  const rename = async () => {
    await onName(text)
    return 'Renamed.'
  }
  return (
    <ActionForm label="Rename" action="Rename" act={rename}>
      <TextField label="Name" value={text} onInput={setText} />
    </ActionForm>
  )
}

interface MoveFormProps {
  readonly value: string
  readonly places: readonly (readonly [string, string])[]
  readonly onMove: (to: string) => Promise<void>
}

/** Shows a form that selects the target folder of a move. */
export function MoveForm({ value, places, onMove }: MoveFormProps) {
  const [to, setTo] = useState(value)
  const move = async () => {
    await onMove(to)
    return 'Moved.'
  }
  return (
    <ActionForm label="Folder it is in" action="Move" act={move}>
      <Select label="Folder it is in" value={to} options={places} onChange={setTo} />
    </ActionForm>
  )
}

interface AccessSettings {
  readonly accessType: AccessTypeName
  readonly inheritAccessFromParent?: boolean
}

interface AccessFormProps {
  readonly accessType: AccessTypeName
  /** Whether permissions on parent folders also apply to this folder. Present only for folders. */
  readonly inherits?: boolean
  readonly onAccess: (access: AccessSettings) => Promise<void>
}

/**
 * Shows a form that changes the access type of a resource. The access type determines the access of users who
 * have no role.
 */
export function AccessForm({ accessType, inherits, onAccess }: AccessFormProps) {
  const [type, setType] = useState(accessType)
  const [isInheriting, setInheriting] = useState(inherits ?? true)
  // Updates the form when the effective access type changes, for example after a move to another folder.
  useEffect(() => setType(accessType), [accessType])
  const save = async () => {
    const inheritance = inherits === undefined ? {} : { inheritAccessFromParent: isInheriting }
    await onAccess({ accessType: type, ...inheritance })
    return 'Access changed. The change applies to open connections within one second.'
  }
  return (
    <ActionForm label="Access" action="Change access" act={save}>
      <Select<AccessTypeName>
        label="Effective access type"
        value={type}
        options={accessTypes}
        onChange={setType}
      />
      {inherits !== undefined && (
        <Checkbox
          label="Inherit permissions from parent folders"
          checked={isInheriting}
          onChange={setInheriting}
        />
      )}
    </ActionForm>
  )
}
