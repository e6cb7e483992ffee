import { Check, Field } from '../ui/controls.tsx'
import type { Wrapping } from './types.ts'

interface WrappingFieldsProps {
  readonly value: Wrapping
  readonly onChange: (change: Partial<Wrapping>) => void
}

/** How what is sent is encoded or encrypted. */
export const WrappingFields = ({ value, onChange }: WrappingFieldsProps) => (
  <>
    <Check
      label="Encode: base64 of the JSON"
      checked={value.encodeData}
      onChange={(encodeData) => onChange({ encodeData })}
    />
    <Check
      label="Encrypt with the public key"
      checked={value.encryptData}
      onChange={(encryptData) => onChange({ encryptData })}
    />
    <Field
      label="Public key"
      rows={4}
      value={value.publicKey}
      onInput={(publicKey) => onChange({ publicKey })}
      hint="RSA; the body of a PEM file, without its first and last line."
    />
  </>
)
