import { randomBytes, webcrypto } from 'node:crypto'
import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import { Semaphore } from '../engine/semaphore.ts'
import type { BackupKey } from './backup-key.ts'
import { objectBytesMax } from './object-store.ts'

const { subtle } = webcrypto
const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)

/** First byte of each sealed object: raw deflate, then AES-256-GCM. */
const method = 1
const nonceBytes = 12
const tagBytes = 16
/** Bytes of a sealed object in addition to its compressed content. */
const overheadBytes = 1 + nonceBytes + tagBytes
/** Low, because the content of documents hardly shrinks more at a higher level. */
const compressionLevel = 3

/**
 * Names, compresses and encrypts the objects of a repository. The name of an object is authenticated with its
 * content, so an object under another name is rejected. One object at a time uses the thread pool, because a
 * server needs the pool for its store.
 */
export class ObjectSealer {
  readonly #sealKey: webcrypto.CryptoKey
  readonly #nameKey: webcrypto.CryptoKey
  readonly #turn = new Semaphore(1)

  private constructor(sealKey: webcrypto.CryptoKey, nameKey: webcrypto.CryptoKey) {
    this.#sealKey = sealKey
    this.#nameKey = nameKey
  }

  static async of(key: BackupKey): Promise<ObjectSealer> {
    return new ObjectSealer(await key.cryptoKey('seal'), await key.cryptoKey('name'))
  }

  /** Returns the HMAC of a content, as 64 hexadecimal digits. It is the same for the same content and key. */
  digestOf(content: Uint8Array<ArrayBuffer>): Promise<string> {
    return this.#turn.run(async () =>
      Buffer.from(await subtle.sign('HMAC', this.#nameKey, content)).toString('hex'),
    )
  }

  /** Returns the bytes of an object, which differ each time. */
  seal(name: string, content: Uint8Array): Promise<Uint8Array> {
    return this.#turn.run(async () => {
      const compressed = await deflate(content, { level: compressionLevel })
      const iv = new Uint8Array(randomBytes(nonceBytes))
      const encrypted = await subtle.encrypt(cipher(name, iv), this.#sealKey, compressed)
      return Buffer.concat([Buffer.of(method), iv, new Uint8Array(encrypted)])
    })
  }

  /** Returns the content of an object; null if the object is damaged or was sealed with another key. */
  async unseal(name: string, bytes: Uint8Array): Promise<Buffer<ArrayBuffer> | null> {
    if (bytes.length < overheadBytes || bytes[0] !== method) return null
    const iv = new Uint8Array(bytes.subarray(1, 1 + nonceBytes))
    const encrypted = new Uint8Array(bytes.subarray(1 + nonceBytes))
    return this.#turn.run(async () => {
      try {
        const compressed = await subtle.decrypt(cipher(name, iv), this.#sealKey, encrypted)
        return await inflate(Buffer.from(compressed), { maxOutputLength: objectBytesMax })
      } catch {
        return null
      }
    })
  }
}

const cipher = (name: string, iv: Uint8Array<ArrayBuffer>) => ({
  name: 'AES-GCM',
  iv,
  additionalData: Buffer.from(name),
  tagLength: tagBytes * 8,
})
