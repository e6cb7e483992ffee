import { MalformedJsonError, readJson, UnknownNameError } from '../base/json.ts'
import type { Log } from '../base/log.ts'
import type { SchemaOf } from '../base/schema.ts'
import type { ClaimedJob, Queue } from '../store/engine.ts'

/** Thrown if the payload of a job does not have the format of its queue. No attempt can run such a job. */
class MalformedJobError extends Error {
  override readonly name = 'MalformedJobError'
}

/**
 * Decodes the task in the payload of a job.
 * @throws MalformedJobError if the payload is malformed; UnknownNameError if only a newer node may be able to
 * run the task
 */
export function readPayload<Task>(schema: SchemaOf<Task>, payload: Uint8Array): Task {
  try {
    return readJson(schema, payload)
  } catch (error) {
    if (!(error instanceof MalformedJsonError) || error instanceof UnknownNameError) throw error
    throw new MalformedJobError(`the payload of the job is malformed: ${error.message}`, { cause: error })
  }
}

/**
 * Moves a job to the dead letters if `error` is a MalformedJobError. For any other error, returns false, and
 * the caller must retry the job. If the store cannot move the job now, the job becomes due again at the end
 * of its lease.
 */
export async function moveIfMalformed(
  { queue, name, log }: { readonly queue: Queue; readonly name: string; readonly log: Log },
  { token }: ClaimedJob,
  error: unknown,
): Promise<boolean> {
  if (!(error instanceof MalformedJobError)) return false
  log.error({ err: error, queue: name }, 'a job is malformed; moving it to the dead letters')
  await queue
    .moveToDeadLetters(token, error.message)
    .catch((err: unknown) =>
      log.warn({ err, queue: name }, 'could not move a malformed job to the dead letters; retrying'),
    )
  return true
}
