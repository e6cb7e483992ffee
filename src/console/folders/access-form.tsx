import { useEffect, useState } from 'preact/hooks'
import { useAction } from '../api/hooks.ts'
import { type AccessTypeName, accessTypes } from '../permissions/permission.ts'
import { Button, Checkbox, Select } from '../ui/controls.tsx'
import { Form } from '../ui/form.tsx'
import { ActionOutcome } from '../ui/notice.tsx'

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
  const save = useAction(async () => {
    await onAccess({
      accessType: type,
      ...(inherits === undefined ? {} : { inheritAccessFromParent: isInheriting }),
    })
    return 'Access changed. The change applies to open connections within one second.'
  })
  return (
    <Form label="Access" onSubmit={() => void save.run()}>
      <div class="row">
        <Select<AccessTypeName>
          label="Effective access type"
          value={type}
          options={accessTypes}
          onChange={setType}
        />
        <Button type="submit" busy={save.busy}>
          Change access
        </Button>
      </div>
      {inherits !== undefined && (
        <Checkbox
          label="Inherit permissions from parent folders"
          checked={isInheriting}
          onChange={setInheriting}
        />
      )}
      <ActionOutcome {...save} />
    </Form>
  )
}
