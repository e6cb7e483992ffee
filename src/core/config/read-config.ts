import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { ConfigError, errorCode, errorMessage } from '../base/errors.ts'
import { readJson } from '../base/json.ts'
import * as s from '../base/schema.ts'
import { didYouMean } from '../base/text.ts'
import {
  type Config,
  environmentOf,
  fixedValues,
  flagOf,
  isSecret,
  type OptionKey,
  optionKeys,
  optionOf,
  removedNote,
} from './config.ts'
import { formatRate, type Rate } from './option-parsers.ts'
import { isLoopbackHost } from './public-url.ts'
import { isInjected, readSecretFile } from './variables.ts'

export { ConfigError }

interface ConfigInput {
  /** Texts of the options that the command line contains, by option key. */
  readonly flags: Readonly<Record<string, string | undefined>>
  readonly environment: Readonly<Record<string, string | undefined>>
  /**
   * Path of the configuration file. If null, `weft.config.json` in the working directory is read, if it
   * exists.
   */
  readonly file: string | null
  /** Whether an unknown option of the file is an error. Default `refuse`. */
  readonly unknown?: 'refuse' | 'ignore'
}

type Source = 'flag' | 'environment' | 'file' | 'default'

export interface ReadConfig {
  readonly config: Config
  readonly sources: Readonly<Record<OptionKey, Source>>
  /** Unknown options of the file. Empty unless `unknown` is `ignore`. */
  readonly unknown: readonly string[]
}

interface Found {
  readonly source: Source
  /** Name of the option as it is spelled in its source. Used in messages. */
  readonly name: string
  readonly text: string
}

type FileValues = Readonly<Record<string, unknown>>

const defaultFile = 'weft.config.json'

/** Reads the configuration from all sources. @throws ConfigError for the first invalid option */
export function readConfig(input: ConfigInput): ReadConfig {
  const file = readConfigFile(input.file)
  const unknown = Object.keys(file).filter((key) => !optionKeys.includes(key as OptionKey))
  if (input.unknown !== 'ignore') refuseUnknown(unknown)
  const sources: Record<string, Source> = {}
  const config = configOf((key) => {
    const found = fromFlag(key, input) ?? fromEnvironment(key, input) ?? fromFile(key, file)
    sources[key] = found?.source ?? 'default'
    return found
  })
  return { config, sources: sources as Record<OptionKey, Source>, unknown }
}

/**
 * Reads the configuration from the values of a program. Reads neither the environment nor a file.
 * @param given values by option, in the forms that the type `OptionValues` declares; null and undefined are the default
 * @throws ConfigError for the first invalid option
 */
export function configOfValues(given: Readonly<Record<string, unknown>>): Config {
  const unknown = Object.keys(given).find((key) => !optionKeys.includes(key as OptionKey))
  if (unknown !== undefined)
    throw new ConfigError(
      `unknown option "${unknown}"${removedNote(unknown) ?? didYouMean(unknown, optionKeys)}`,
    )
  return configOf((key) => {
    const value = given[key] ?? null
    return value === null ? null : { name: `the option "${key}"`, text: textOfValue(value) }
  })
}

/** @param find returns the text of an option; null: it has its default */
function configOf(find: (key: OptionKey) => Pick<Found, 'name' | 'text'> | null): Config {
  const values: Record<string, unknown> = { ...fixedValues }
  for (const key of optionKeys) {
    const found = find(key)
    values[key] = found === null ? defaultOf(key) : parse(key, found)
  }
  const config = values as unknown as Config
  checkTogether(config)
  return config
}

/** Returns the text of a value, as an environment variable has it. */
function textOfValue(value: unknown): string {
  if (Array.isArray(value)) return value.join(',')
  if (typeof value !== 'object' || value === null) return String(value)
  if (Object.values(value).some((member) => typeof member === 'object')) return JSON.stringify(value)
  if ('perSecond' in value && 'burst' in value) return formatRate(value as Rate)
  return Object.entries(value)
    .map((pair) => pair.join('='))
    .join(',')
}

function fromFlag(key: OptionKey, { flags }: ConfigInput): Found | null {
  const text = flags[key]
  return text === undefined ? null : { source: 'flag', name: flagOf(key) ?? key, text }
}

function fromEnvironment(key: OptionKey, { environment }: ConfigInput): Found | null {
  const name = environmentOf(key)
  const fromSecretFile = isSecret(key) ? readSecretFile(name, environment) : null
  if (fromSecretFile !== null) return { source: 'environment', ...fromSecretFile }
  for (const candidate of [name, optionOf(key).alsoEnvironment]) {
    const text = candidate === undefined ? undefined : environment[candidate]
    if (candidate !== undefined && text !== undefined && text !== '' && !isInjected(candidate, text))
      return { source: 'environment', name: candidate, text }
  }
  return null
}

function fromFile(key: OptionKey, file: FileValues): Found | null {
  if (!Object.hasOwn(file, key)) return null
  const value = file[key]
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
    throw new ConfigError(`"${key}" in the configuration file: expected ${optionOf(key).parser.expected}`)
  return { source: 'file', name: `"${key}" in the configuration file`, text: String(value) }
}

function readConfigFile(path: string | null): FileValues {
  const name = path ?? defaultFile
  let text: string
  try {
    text = readFileSync(resolve(name), 'utf8')
  } catch (error) {
    const isMissing = errorCode(error) === 'ENOENT'
    if (isMissing && path === null) return {}
    if (isMissing)
      throw new ConfigError(`the configuration file ${name} does not exist`, {
        hint: 'create it (weft init), or correct --config or WEFT_CONFIG',
      })
    throw new ConfigError(`the configuration file cannot be read: ${errorMessage(error)}`)
  }
  return parseConfigFile(name, text)
}

function refuseUnknown([unknown]: readonly string[]): void {
  if (unknown === undefined) return
  throw new ConfigError(
    `unknown option "${unknown}" in the configuration file${removedNote(unknown) ?? didYouMean(unknown, optionKeys)}`,
    { hint: '`weft config print` lists all options' },
  )
}

const fileSchema = s.map(s.unknown)

function parseConfigFile(name: string, text: string): FileValues {
  try {
    return readJson(fileSchema, text)
  } catch (error) {
    throw new ConfigError(`${name} is not a JSON object: ${errorMessage(error)}`)
  }
}

/**
 * Returns the default of an option. If the default is a text, such as a path, it is parsed like a configured
 * value.
 */
function defaultOf(key: OptionKey): unknown {
  const { parser, default: value } = optionOf(key)
  return typeof value === 'string' ? parser.parse(value) : value
}

function parse(key: OptionKey, { name, text }: Pick<Found, 'name' | 'text'>): unknown {
  const { parser } = optionOf(key)
  const value = parser.parse(text)
  if (value !== undefined) return value
  const problem = parser.problem?.(text) ?? null
  if (problem !== null) throw new ConfigError(`${name} cannot be used: ${problem}`)
  const shown = isSecret(key) ? 'has a value that cannot be used' : `is ${JSON.stringify(text.slice(0, 100))}`
  throw new ConfigError(`${name} ${shown}; expected ${parser.expected}`)
}

function checkTogether(config: Config): void {
  if (config.auth === 'none' && !isLoopbackHost(config.host))
    throw new ConfigError(
      `${environmentOf('auth')} is "none" and ${environmentOf('host')} is ${JSON.stringify(config.host)}; ` +
        'expected a loopback address (127.0.0.1, ::1 or localhost), because every client may do everything',
    )
  const isUsedKey = (key: string): boolean =>
    config.apiKey === key || config.bootstrap.some(({ apiKey }) => apiKey === key)
  if (config.addKey !== null && !isUsedKey(config.addKey))
    throw new ConfigError(
      `${environmentOf('addKey')} is ${JSON.stringify(config.addKey)}; expected the same key in ` +
        `${environmentOf('apiKey')}, or in a workspace of ${environmentOf('bootstrap')}; otherwise the key is never added`,
    )
  if (config.engine === 'postgres' && config.postgresUrl === null)
    throw new ConfigError(
      `${environmentOf('engine')} is "postgres"; expected ${environmentOf('postgresUrl')} too, the URL of the database`,
    )
  checkBackups(config)
  if (isIP(config.host) === 0 && /^[\d.]+$/.test(config.host))
    throw new ConfigError(
      `${environmentOf('host')} is ${JSON.stringify(config.host)}; expected an IP address`,
    )
  if (config.jwtJwksUrl !== null && (config.jwtIssuer === null || config.jwtAudience === null))
    throw new ConfigError(
      `${environmentOf('jwtJwksUrl')} needs ${environmentOf('jwtIssuer')} and ${environmentOf('jwtAudience')} too, ` +
        'because the keys at this URL may also sign tokens that are meant for others',
    )
  if (config.jwtSecret !== null && config.jwtSecret === config.jwtSecretPrevious)
    throw new ConfigError(
      `${environmentOf('jwtSecretPrevious')} equals ${environmentOf('jwtSecret')}; expected the previous secret`,
    )
}

/** @throws ConfigError if backups lack their place, their key, or a store */
function checkBackups({ backupTo, backupKey, engine }: Config): void {
  const [to, key] = [environmentOf('backupTo'), environmentOf('backupKey')]
  if (backupTo === null && backupKey !== null)
    throw new ConfigError(`${key} is set; expected ${to} too, the place of the backups`)
  if (backupTo === null) return
  if (backupKey === null)
    throw new ConfigError(`${to} is set; expected ${key} too, because backups are encrypted`, {
      hint: `create a key with weft backups key <file>, and name the file in ${key}_FILE`,
    })
  if (engine !== 'memory') return
  throw new ConfigError(
    `${to} is set and ${environmentOf('engine')} is "memory"; expected "level" or "postgres", because this engine stores nothing`,
  )
}
