import { useEffect, useState } from 'preact/hooks'
import { useAction } from '../calls.ts'
import { type AccessType, accessTypes } from '../rights/rights.ts'
import { Button, Check, Choice } from '../ui/controls.tsx'
import { Form } from '../ui/form.tsx'
import { Outcome } from '../ui/notice.tsx'

export interface Access {
  readonly accessType: AccessType
  readonly inheritAccessFromParent?: boolean
}

interface AccessFormProps {
  readonly accessType: AccessType
  /** Of folders: whether what is granted above counts here. */
  readonly inherits?: boolean
  readonly onAccess: (access: Access) => Promise<void>
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
        <Choice<AccessType>
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
        <Check
          label="What is granted on folders above counts here, too"
          checked={isInheriting}
          onChange={setInheriting}
        />
      )}
      <Outcome {...save} />
    </Form>
  )
}
