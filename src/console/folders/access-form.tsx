import { useEffect, useState } from 'preact/hooks'
import { useAction } from '../api/hooks.ts'
import { type AccessTypeName, accessTypes } from '../permissions/permission.ts'
import { Button, Checkbox, Select } from '../ui/controls.tsx'
import { Form } from '../ui/form.tsx'
import { ActionOutcome } from '../ui/notice.tsx'

export interface AccessSettings {
  readonly accessType: AccessTypeName
  readonly inheritAccessFromParent?: boolean
}

interface AccessFormProps {
  readonly accessType: AccessTypeName
  /** Of folders: whether what is granted above counts here. */
  readonly inherits?: boolean
  readonly onAccess: (access: AccessSettings) => Promise<void>
}

/** Who may look at something without having been granted a role. */
export function AccessForm({ accessType, inherits, onAccess }: AccessFormProps) {
  const [type, setType] = useState(accessType)
  const [isInheriting, setInheriting] = useState(inherits ?? true)
  // What is in effect may change with the folder that something is in.
  useEffect(() => setType(accessType), [accessType])
  const save = useAction(async () => {
    await onAccess({
      accessType: type,
      ...(inherits === undefined ? {} : { inheritAccessFromParent: isInheriting }),
    })
    return 'Access is changed; open connections follow within a second.'
  })
  return (
    <Form label="Access" onSubmit={() => void save.run()}>
      <div class="row">
        <Select<AccessTypeName>
          label="Access type in effect"
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
          label="What is granted on folders above counts here, too"
          checked={isInheriting}
          onChange={setInheriting}
        />
      )}
      <ActionOutcome {...save} />
    </Form>
  )
}
