import { createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'

/** Returns the content of a file that only its owner can read; creates the file if it is missing. */
async function kept(file, make) {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
  }
  const made = make()
  await writeFile(file, made, { mode: 0o600, flag: 'wx' })
  return made
}

const newKey = () =>
  generateKeyPairSync('rsa', { modulusLength: 3072 }).privateKey.export({ type: 'pkcs8', format: 'pem' })

/** Returns the key pair for encrypted bodies, and the token of the basic service. */
export async function readKeys(folder) {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const privateKey = await kept(new URL('private.pem', folder), newKey)
  const token = await kept(new URL('basic-token', folder), () => randomBytes(24).toString('base64url'))
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).toString('base64')
  return { privateKey, publicKey, token }
}
