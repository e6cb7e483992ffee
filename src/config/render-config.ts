import {
  type Config,
  environmentOf,
  flagOf,
  isSecret,
  type OptionKey,
  optionKeys,
  optionOf,
} from '../config.ts'
import type { ReadConfig } from './read-config.ts'

/** Returns the table of options as Markdown, for the documentation. */
export function renderMarkdown(): string {
  const rows = optionKeys.map((key) => `| ${[names(key), defaultText(key), meaning(key)].join(' | ')} |`)
  return ['| Option | Default | Meaning |', '|---|---|---|', ...rows].join('\n')
}

/**
 * Returns the effective configuration as text. Each line contains one option and its source. Secrets are
 * hidden.
 */
export function renderConfig({ config, sources }: ReadConfig): string {
  const width = Math.max(...optionKeys.map((key) => key.length))
  return optionKeys
    .map((key) => `${key.padEnd(width)}  ${JSON.stringify(shownValue(key, config))}  (${sources[key]})`)
    .join('\n')
}

/** Returns the content of `renderConfig` as a JSON object. */
export const configAsJson = ({ config, sources }: ReadConfig): Record<string, unknown> =>
  Object.fromEntries(optionKeys.map((key) => [key, { value: shownValue(key, config), source: sources[key] }]))

const shownValue = (key: OptionKey, config: Config): unknown =>
  isSecret(key) && config[key] !== optionOf(key).default ? '(secret)' : formatted(key, config[key])

/** Returns a value in the form in which the option is set. */
function formatted(key: OptionKey, value: unknown): unknown {
  const { parser } = optionOf(key)
  return value == null || parser.format === undefined ? value : parser.format(value)
}

function names(key: OptionKey): string {
  const environment = environmentOf(key)
  const variants = isSecret(key) ? [environment, `${environment}_FILE`] : [environment]
  const flag = flagOf(key)
  return [...(flag === null ? [] : [flag]), ...variants].map((name) => `\`${name}\``).join(' ')
}

/** Returns the default of an option, as Markdown. */
export function defaultText(key: OptionKey): string {
  const { default: value, defaultText } = optionOf(key)
  return defaultText ?? `\`${String(formatted(key, value))}\``
}

function meaning(key: OptionKey): string {
  const { description, parser, alsoEnvironment } = optionOf(key)
  const also = alsoEnvironment === undefined ? '' : ` \`${alsoEnvironment}\` also sets it.`
  return `${description}${also} Expects ${parser.expected}.`.replaceAll('|', '\\|')
}

/** Types of the options whose values have no plain type, for programs. */
const specialTypes: Readonly<Partial<Record<OptionKey, string>>> = {
  natsUrl: 'readonly string[]',
  bootstrap:
    'Readonly<Record<string, { readonly workspaceId: string; readonly workspaceAuthToken: string; readonly apiKey: string; readonly authToken: string }>>',
  jwtClaims: "{ readonly [Claim in 'userId' | 'name' | 'email' | 'admin' | 'apiKey']?: string }",
  debug: 'readonly string[]',
  webhookAllowlist: 'readonly string[]',
}

/** Returns the declarations of the options for programs, as the members of a TypeScript interface. */
export const optionTypes = (): string =>
  optionKeys
    .map((key) => {
      const { description, parser } = optionOf(key)
      const lines = wrapped(`${description} Expects ${parser.expected}. Default: ${defaultText(key)}.`)
      return `  /**\n${lines.map((line) => `   * ${line}\n`).join('')}   */\n  readonly ${key}?: ${typeOf(key)} | null`
    })
    .join('\n')

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

/** Splits a text into lines of at most 106 characters. Braces are spelled so that they end no link of a comment. */
function wrapped(text: string): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.replaceAll(/[{}@]/g, '\\$&').split(' ')) {
    if (line !== '' && line.length + word.length >= 106) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
