import { createHmac, hkdfSync, randomBytes, webcrypto } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import { errorMessage } from '../../core/base/errors.ts'
import { Semaphore } from '../../core/base/semaphore.ts'
import { isBackupKeyText } from '../../core/config/backup-options.ts'
import { writeNewFile } from '../../core/config/files/write-new-file.ts'
import { objectBytesMax } from './object-store.ts'
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
  await writeNewFile(path, text).catch((error: unknown) => {
    throw new StorageError(`${path} cannot be written: ${errorMessage(error)}`, { cause: error })
  })
}

const { subtle } = webcrypto
const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)

/** First byte of each sealed object: raw deflate, then AES-256-GCM. The id of the repository follows. */
const method = 1
const nonceBytes = 12
const tagBytes = 16
/** Bytes of the id of the repository, from which its keys can be derived without the object `repository`. */
const idBytes = 16
const nonceAt = 1 + idBytes
/** Bytes of a sealed object in addition to its compressed content. */
const overheadBytes = nonceAt + nonceBytes + tagBytes
/** Low, because the content of documents hardly shrinks more at a higher level. */
const compressionLevel = 3

/**
 * Names, compresses and encrypts the objects of a repository. The name of an object is authenticated with its
 * content, and each repository has keys of its own, so an object under another name or of another repository is
 * rejected. One object at a time uses the thread pool, because a
 * server needs the pool for its store.
 */
export class ObjectSealer {
  readonly #sealKey: webcrypto.CryptoKey
  readonly #nameKey: webcrypto.CryptoKey
  readonly #id: Buffer
  readonly #turn = new Semaphore({ total: 1 })

  private constructor(sealKey: webcrypto.CryptoKey, nameKey: webcrypto.CryptoKey, id: Buffer) {
    this.#id = id
    this.#sealKey = sealKey
    this.#nameKey = nameKey
  }

  /** @param repositoryId 32 hexadecimal digits */
  static async of(key: BackupKey, repositoryId: string): Promise<ObjectSealer> {
    const [sealKey, nameKey] = [
      await key.cryptoKey('seal', repositoryId),
      await key.cryptoKey('name', repositoryId),
    ]
    return new ObjectSealer(sealKey, nameKey, Buffer.from(repositoryId, 'hex'))
  }

  /** Returns the HMAC of a content, as 64 hexadecimal digits. It is the same for the same content and key. */
  digestOf(content: Uint8Array<ArrayBuffer>): Promise<string> {
    return this.#turn.run('', async () =>
      Buffer.from(await subtle.sign('HMAC', this.#nameKey, content)).toString('hex'),
    )
  }

  /** Returns the bytes of an object, which differ each time. */
  seal(name: string, content: Uint8Array): Promise<Uint8Array> {
    return this.#turn.run('', async () => {
      const compressed = await deflate(content, { level: compressionLevel })
      const iv = new Uint8Array(randomBytes(nonceBytes))
      const encrypted = await subtle.encrypt(cipher(name, iv), this.#sealKey, compressed)
      return Buffer.concat([Buffer.of(method), this.#id, iv, new Uint8Array(encrypted)])
    })
  }

  /**
   * Returns the content of an object; null if the object is damaged or was sealed with another key
   * or in another repository.
   */
  async unseal(name: string, bytes: Uint8Array): Promise<Buffer<ArrayBuffer> | null> {
    if (bytes[0] !== method || statedRepositoryId(bytes) !== this.#id.toString('hex')) return null
    const iv = new Uint8Array(bytes.subarray(nonceAt, nonceAt + nonceBytes))
    const encrypted = new Uint8Array(bytes.subarray(nonceAt + nonceBytes))
    return this.#turn.run('', async () => {
      try {
        const compressed = await subtle.decrypt(cipher(name, iv), this.#sealKey, encrypted)
        return await inflate(Buffer.from(compressed), { maxOutputLength: objectBytesMax })
      } catch {
        return null
      }
    })
  }
}

/** Returns the id of the repository that an object states, without a check; null if it is too short. */
export const statedRepositoryId = (bytes: Uint8Array): string | null =>
  bytes.length < overheadBytes ? null : Buffer.from(bytes.subarray(1, nonceAt)).toString('hex')

const cipher = (name: string, iv: Uint8Array<ArrayBuffer>) => ({
  name: 'AES-GCM',
  iv,
  additionalData: Buffer.from(name),
  tagLength: tagBytes * 8,
})
