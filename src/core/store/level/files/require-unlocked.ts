import { Level } from 'level'
import { levelErrorCode, settleError } from './level-errors.ts'

/**
 * Checks that no other process has the store in `directory` open. Does not read the store.
 * @throws the error of `level` if another process has the store open
 */
export async function requireUnlocked(directory: string): Promise<void> {
  // LevelDB locks the store before it checks whether the store exists. With `errorIfExists`, opening
  // therefore always fails without reading the store: because of the lock, or because the store exists.
  const database = new Level(directory, { createIfMissing: false, errorIfExists: true })
  const failure = await settleError(database.open())
  await database.close()
  const cause = failure?.error instanceof Error ? failure.error.cause : null
  if (levelErrorCode(cause) === 'LEVEL_LOCKED') throw failure?.error
}
