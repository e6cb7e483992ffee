import { readFileSync } from 'node:fs'
import { ConfigError, errorMessage } from '../base/errors.ts'
import { didYouMean, foldedName, misspelledName } from '../base/text.ts'
import { environmentOf, isSecret, optionKeys, removedNote } from './config.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Variables of Weft that are not options: the path of the configuration file, the URL that `weft doc` uses
 * for the server, the token that `weft mcp` uses, and the variables of the tests.
 */
const others: readonly string[] = [
  'WEFT_CONFIG',
  'WEFT_URL',
  'WEFT_AGENT_TOKEN',
  'WEFT_TEST_LONG',
  'WEFT_TEST_REQUIRED',
  'WEFT_TEST_BROWSER',
]

const prefix = 'WEFT_'

/** Maximum number of unknown or misspelled variables that one message contains. */
const namedMax = 10

/**
 * Matches the names of variables that Kubernetes and Docker set if a service has the name `weft` or `weft-…`:
 * `WEFT_SERVICE_HOST`, `WEFT_SERVICE_PORT_HTTP`, `WEFT_PORT_8787_TCP_ADDR`.
 */
const injectedName = /_SERVICE_(HOST$|PORT($|_))|_PORT_\d{1,5}_(TCP|UDP|SCTP)($|_)/
/** Matches the value of a variable such as `WEFT_PORT=tcp://10.0.0.1:8787`. */
const injectedUrl = /^(tcp|udp|sctp):\/\//

/**
 * Returns whether an orchestrator has set the variable to describe a service. Such a variable does not
 * configure Weft.
 */
export const isInjected = (name: string, value: string): boolean =>
  name.startsWith('WEFT_') && (injectedName.test(name) || (name.endsWith('_PORT') && injectedUrl.test(value)))

/** Returns the names of the variables that an orchestrator has set. Weft ignores these variables. */
export const injectedVariables = (environment: Environment): readonly string[] =>
  Object.keys(environment).filter((name) => isInjected(name, environment[name] ?? ''))

/** Returns the variables that start with `WEFT_` or `weft_` and that Weft does not know. */
export function unknownVariables(environment: Environment): readonly string[] {
  const known = knownVariables()
  return Object.keys(environment).filter(
    (name) =>
      /^weft_/i.test(name) && !known.includes(asRead(name)) && !isInjected(name, environment[name] ?? ''),
  )
}

/**
 * Checks that all variables that start with `WEFT_` or `weft_` are known.
 * @throws ConfigError if a variable is unknown, because it is probably misspelled
 */
export function checkVariables(environment: Environment): void {
  const unknown = unknownVariables(environment)
  if (unknown.length === 0) return
  throw new ConfigError(
    `Weft does not know the variable${unknown.length > 1 ? 's' : ''} ${listUnknown(unknown)}`,
    { hint: '`weft serve --help-options` lists the options' },
  )
}

/** Returns a list of unknown names with suggestions, and without the names over `namedMax`. */
export function listUnknown(unknown: readonly string[]): string {
  const known = knownVariables()
  const named = unknown
    .slice(0, namedMax)
    .map((name) => name + (removedNote(name) ?? didYouMean(name, known)))
  const rest = unknown.length > namedMax ? ` and ${unknown.length - namedMax} more` : ''
  return `${named.join(', ')}${rest}`
}

/**
 * An environment variable that has no effect because it is probably misspelled, and the variable that was
 * probably meant.
 */
interface MisspelledVariable {
  readonly name: string
  readonly meant: string
}

/**
 * Maximum length of a name that is compared with the known names. A longer name is not reported as a
 * misspelling.
 */
const comparedLengthMax = 100

/**
 * Returns variables that are probably misspelled: their prefix differs from `WEFT_` by one letter or
 * separator, as in `WETF_DATA_DIR`, and the rest of the name is that of a known variable. These variables may
 * belong to other programs. Therefore they only cause a warning. Returns at most 10 variables.
 */
export function misspelledVariables(environment: Environment): readonly MisspelledVariable[] {
  const known = knownVariables().map((meant) => ({ meant, end: foldedName(meant.slice(prefix.length)) }))
  const found: MisspelledVariable[] = []
  for (const [name, value = ''] of Object.entries(environment)) {
    if (found.length >= namedMax) break
    if (name.length > comparedLengthMax || /^weft_/i.test(name) || injectedUrl.test(value)) continue
    const text = foldedName(name)
    const near = known.find(
      ({ end }) => text.endsWith(end) && misspelledName(text.slice(0, -end.length), [prefix]) !== null,
    )
    if (near !== undefined) found.push({ name, meant: near.meant })
  }
  return found
}

function knownVariables(): readonly string[] {
  const options = optionKeys.map(environmentOf)
  const files = optionKeys.filter(isSecret).map((key) => `${environmentOf(key)}_FILE`)
  return [...options, ...files, ...others]
}

/**
 * Returns the name in the form in which Node compares names of variables. On Windows, these names are not
 * case-sensitive.
 */
const asRead = (name: string): string => (process.platform === 'win32' ? name.toUpperCase() : name)

/** The text of a file that a variable names. */
interface SecretFile {
  /** Name of the variable. */
  readonly name: string
  readonly text: string
}

/**
 * Reads a secret from the file that the variable `<name>_FILE` names. Returns null without this variable.
 * @throws ConfigError if both variables are set, or if the file cannot be read
 */
export function readSecretFile(
  name: string,
  environment: Readonly<Record<string, string | undefined>>,
): SecretFile | null {
  const path = environment[`${name}_FILE`]
  if (path === undefined || path === '') return null
  if (environment[name]) throw new ConfigError(`${name} and ${name}_FILE are both set; expected one of them`)
  try {
    return { name: `${name}_FILE`, text: readFileSync(path, 'utf8').trimEnd() }
  } catch (error) {
    throw new ConfigError(`${name}_FILE cannot be read: ${errorMessage(error)}`)
  }
}
