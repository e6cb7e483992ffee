import { TextField } from '../ui/controls.tsx'

interface GraceFieldProps {
  readonly value: string
  readonly onInput: (minutes: string) => void
}

export const GracePeriodField = ({ value, onInput }: GraceFieldProps) => (
  <TextField
    label="Old token stays valid for (minutes)"
    type="number"
    value={value}
    onInput={onInput}
    hint="0: it expires now."
    required
  />
)

export const graceSecondsOf = (minutes: string): number => Math.round(Number(minutes) * 60)
