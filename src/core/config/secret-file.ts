import { readFileSync } from 'node:fs'
import { errorMessage } from '../base/errors.ts'
import { ConfigError } from './error.ts'

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
