import { Checkbox, TextField } from '../ui/controls.tsx'
import type { EncodingSettings } from './webhook-types.ts'

interface WrappingFieldsProps {
  readonly value: EncodingSettings
  readonly onChange: (change: Partial<EncodingSettings>) => void
}

/** Shows the fields for encoding and encryption of payloads. */
export const PayloadEncodingFields = ({ value, onChange }: WrappingFieldsProps) => (
  <>
    <Checkbox
      label="Encode: base64 of the JSON"
      checked={value.encodeData}
      onChange={(encodeData) => onChange({ encodeData })}
    />
    <Checkbox
      label="Encrypt with the public key"
      checked={value.encryptData}
      onChange={(encryptData) => onChange({ encryptData })}
    />
    <TextField
      label="Public key"
      rows={4}
      value={value.publicKey}
      onInput={(publicKey) => onChange({ publicKey })}
      hint="RSA; the body of a PEM file, without its first and last line."
    />
  </>
)
