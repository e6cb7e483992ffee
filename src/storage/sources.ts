import { readFile } from 'node:fs/promises'
import type { Clock } from '../clock.ts'
import { messageOf } from '../errors.ts'
import { backupOf } from './backup.ts'
import { StorageError } from './problem.ts'
import { openStoppedDump } from './stopped.ts'

/** The bytes of a backup of a server that is stopped. @throws StorageError, EngineOpenError, CorruptRecord */
export async function* backupOfStopped(directory: string, clock: Clock): AsyncGenerator<Uint8Array> {
  const dump = await openStoppedDump(directory)
  try {
    yield* backupOf(dump, { directory, clock })
  } finally {
    await dump.close()
  }
}

/** The bytes of a backup that a server makes while it serves. @throws StorageError */
export async function* backupOfServing(url: string, tokenFile: string): AsyncGenerator<Uint8Array> {
  const token = await readTokenFile(tokenFile)
  const response = await fetch(new URL('/backup', url), {
    headers: { 'x-service-admin-token': token },
    redirect: 'error',
  }).catch((error: unknown) => {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
    throw new StorageError(`${url} cannot be reached: ${messageOf(cause)}`, {
      hint: 'start the server, or name its data directory instead',
    })
  })
  if (!response.ok || response.body === null)
    throw new StorageError(`${url} refuses: ${await refusalOf(response)}`, {
      hint: 'the token is what WEFT_ADMIN_TOKEN is at the server',
    })
  yield* response.body
}

/** What is no token is not named: it may hold one. */
/** A token that is the only line of a file. @throws StorageError */
export async function readTokenFile(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new StorageError(`${path} cannot be read: ${messageOf(error)}`)
  })
  const token = text.trim()
  if (!/^[!-~]+$/.test(token))
    throw new StorageError(`${path} holds no token: it is one line of visible ASCII characters`)
  return token
}

/** What a server says that refuses. */
export async function refusalOf(response: Response): Promise<string> {
  const text = await response.text()
  try {
    const { error } = JSON.parse(text) as { error: { status: string; message: string } }
    return `${error.status}: ${error.message}`
  } catch {
    return `HTTP ${response.status}`
  }
}
