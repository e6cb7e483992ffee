import { TextField } from '../ui/controls.tsx'

interface GraceFieldProps {
  readonly value: string
  readonly onInput: (minutes: string) => void
}

export const GracePeriodField = ({ value, onInput }: GraceFieldProps) => (
  <TextField
    label="Minutes for which the old one is good"
    type="number"
    value={value}
    onInput={onInput}
    hint="0: it ends now."
    required
  />
)

export const graceSecondsOf = (minutes: string): number => Math.round(Number(minutes) * 60)
