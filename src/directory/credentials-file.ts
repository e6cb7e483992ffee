import { chmod, mkdir, open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../errors.ts'

/** What a backend needs to call this server, and the secret that signs realtime tokens. */
export interface Credentials {
  readonly workspaceId: string
  readonly workspaceAuthToken: string
  readonly apiKey: string
  readonly authToken: string
  readonly jwtSecret: string
}

/** As it is in the file: what is missing there is found in the store, or made anew. */
export type KeptCredentials = Partial<Credentials>

/** The credentials cannot be read or written. The message is for the operator. */
export class CredentialsFileError extends Error {
  override readonly name = 'CredentialsFileError'
}

const fileName = 'credentials.json'

export const credentialsPath = (directory: string): string => join(directory, fileName)

/** Makes the data directory, readable by its owner only, unless it is there. @throws CredentialsFileError */
export async function makeDataDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new CredentialsFileError(`the data directory cannot be made: ${messageOf(error)}`, { cause: error })
  }
}

/** Null when there is no file. @throws CredentialsFileError when it is there and cannot be used */
export async function readCredentials(directory: string): Promise<KeptCredentials | null> {
  const path = credentialsPath(directory)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new CredentialsFileError(`${path} cannot be read: ${messageOf(error)}`, { cause: error })
  }
  try {
    return stringMembers(JSON.parse(text))
  } catch {
    throw new CredentialsFileError(
      `${path} is damaged: restore it, or remove it to have the credentials written anew`,
    )
  }
}

/** Replaces the file as a whole: a crash leaves the old one or the new one. Mode 0600. */
export async function writeCredentials(directory: string, credentials: KeptCredentials): Promise<void> {
  const path = credentialsPath(directory)
  const temporary = `${path}.new`
  const file = await open(temporary, 'w', 0o600)
  try {
    await file.writeFile(`${JSON.stringify(credentials, null, 2)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await chmod(temporary, 0o600)
  await rename(temporary, path)
}

function stringMembers(value: unknown): KeptCredentials {
  if (typeof value !== 'object' || value === null) throw new TypeError('not an object')
  return Object.fromEntries(Object.entries(value).filter(([, member]) => typeof member === 'string'))
}
