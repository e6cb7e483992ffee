import { type OptionKey, optionKeys, optionOf } from '../../core/config/config.ts'
import { defaultText } from '../../core/config/render-config.ts'
import { comment } from './type-printer.ts'

/** Types of the options whose values have no plain type, for programs. */
const specialTypes: Readonly<Partial<Record<OptionKey, string>>> = {
  natsUrl: 'readonly string[]',
  bootstrap:
    'Readonly<Record<string, { readonly workspaceId: string; readonly workspaceAuthToken: string; readonly apiKey: string; readonly authToken: string }>>',
  jwtClaims: "{ readonly [Claim in 'userId' | 'name' | 'email' | 'admin' | 'apiKey']?: string }",
  debug: 'readonly string[]',
  webhookAllowlist: 'readonly string[]',
}

/** Returns the declarations of the options for programs. */
export function optionValues(): string {
  const members = optionKeys.map((key) => {
    const { description, parser } = optionOf(key)
    // A comment must not have a tag of TSDoc or an unclosed link.
    const about = `${description} Expects ${parser.expected}. Default: ${defaultText(key)}.`
    return `${comment(about.replaceAll(/[{}@]/g, '\\$&'))}readonly ${key}?: ${typeOf(key)} | null`
  })
  const about =
    'Values of the options that the chapter on configuration lists. Null and undefined are the default.'
  return `${comment(about)}export interface OptionValues {\n${members.join('\n')}\n}`
}

function typeOf(key: OptionKey): string {
  const { default: value, parser } = optionOf(key)
  const special = specialTypes[key]
  if (special !== undefined) return special
  if (typeof value === 'object' && value !== null)
    return 'number | { readonly perSecond: number; readonly burst: number }'
  if (typeof value === 'number' || typeof value === 'boolean') return typeof value
  return parser.expected.startsWith('"')
    ? parser.expected.replaceAll('"', "'").replaceAll(' or ', ' | ')
    : 'string'
}
