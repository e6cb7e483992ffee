import { randomBytes, webcrypto } from 'node:crypto'
import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import { Semaphore } from '../../core/base/semaphore.ts'
import type { BackupKey } from './backup-key.ts'
import { objectBytesMax } from './object-store.ts'

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
