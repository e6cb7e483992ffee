import { type Role, roles } from '../rights/rights.ts'
import { Choice } from '../ui/controls.tsx'

interface RoleChoiceProps {
  readonly label?: string
  readonly value: Role
  readonly onChange: (role: Role) => void
}

export const RoleChoice = ({ label = 'Role', value, onChange }: RoleChoiceProps) => (
  <Choice<Role> label={label} value={value} options={roles} onChange={onChange} />
)
