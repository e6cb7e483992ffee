import {
  type Config,
  environmentOf,
  flagOf,
  isSecret,
  type OptionKey,
  optionKeys,
  optionOf,
} from './config.ts'
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
  return `${description}${also} Expects ${parser.brief ?? parser.expected}.`.replaceAll('|', '\\|')
}
