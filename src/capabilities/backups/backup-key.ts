import { createHmac, hkdfSync, randomBytes, type webcrypto } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { errorMessage } from '../../core/base/errors.ts'
import { isBackupKeyText } from '../../core/config/backup-options.ts'
import { StorageError } from './storage/storage-error.ts'

const keyBytes = 32

/** The key of the operator, from which the keys of a backup repository are derived. Never printed. */
export class BackupKey {
  readonly #bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** Returns a text by which a repository recognizes its key. It does not reveal the key. */
  checkOf(repositoryId: string): string {
    return createHmac('sha256', this.#derive('check')).update(repositoryId).digest('hex')
  }

  /** Derives the key of one purpose for one repository (HKDF with SHA-256, 32 bytes). */
  async cryptoKey(purpose: 'seal' | 'name', repositoryId: string): Promise<webcrypto.CryptoKey> {
    const bytes = this.#derive(`${purpose} ${repositoryId}`)
    return purpose === 'seal'
      ? crypto.subtle.importKey('raw', bytes, 'AES-GCM', false, ['encrypt', 'decrypt'])
      : crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  }

  #derive(purpose: string): Uint8Array<ArrayBuffer> {
    return new Uint8Array(hkdfSync('sha256', this.#bytes, '', `weft backup 1 ${purpose}`, keyBytes))
  }
}

/**
 * Parses a key: 64 hexadecimal digits.
 * @param source name of the file or the option, for the message; the message does not contain the text
 * @throws StorageError
 */
export function parseBackupKey(text: string, source: string): BackupKey {
  if (!isBackupKeyText(text))
    throw new StorageError(`${source} holds no backup key: it is 64 hexadecimal digits`, {
      hint: 'create one with weft backups key <file>',
    })
  return new BackupKey(Buffer.from(text.trim(), 'hex'))
}

/** Reads a key from a file. @throws StorageError */
export async function readBackupKey(path: string): Promise<BackupKey> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new StorageError(`${path} cannot be read: ${errorMessage(error)}`, {
      hint: 'create a key with weft backups key <file>',
    })
  })
  return parseBackupKey(text, path)
}

/** Creates a key file that only its owner can read. @throws StorageError if the file exists */
export async function createBackupKeyFile(path: string): Promise<void> {
  const text = `${randomBytes(keyBytes).toString('hex')}\n`
  await writeFile(path, text, { mode: 0o600, flag: 'wx', flush: true }).catch((error: unknown) => {
    throw new StorageError(`${path} cannot be written: ${errorMessage(error)}`, { cause: error })
  })
}
