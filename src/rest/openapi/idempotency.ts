import { json } from '../../core/base/schema.ts'
import { keyLengthMax } from '../../core/model/idempotency-key.ts'
import { idempotencyHeader, idempotencyLimits, replayedHeader } from '../idempotency/idempotent-call.ts'
import type { DocumentedError, Effect } from '../operation.ts'

interface Affecting {
  readonly effect: Effect
}

const madeAgain = 'If the server stops or fails during a call, the next call with the key is executed again'

/** Header parameters of operations that change something, by their kind of effect. */
export const idempotencyParameters = {
  KeyOfOnce: parameter(
    'If the server stops or fails during a call with an unknown outcome, the next call with the key is ABORTED with ' +
      '`unknown` as `details.outcome`: check the result, then retry with a new key.',
  ),
  KeyOfAdds: parameter(
    `${madeAgain}: omitted ids get the same values again, so nothing is added twice. An item with an id of your own may ` +
      'be reported as existing.',
  ),
  KeyOfRepeatable: parameter(`${madeAgain}, with the same effect; the response may report fewer changes.`),
}

function parameter(afterFailure: string): object {
  return {
    name: idempotencyHeader,
    in: 'header',
    required: false,
    description:
      'Unique text for this call, such as a UUID. The server executes the same call with the same key once, also if it ' +
      'arrives several times at once, and returns the first response each time. Stored responses are successes and the ' +
      'errors 403, 404, 409 ALREADY_EXISTS and FAILED_PRECONDITION. INVALID_ARGUMENT, UNAUTHENTICATED, ABORTED and ' +
      'RESOURCE_EXHAUSTED are not stored. ' +
      `${afterFailure} The same key with another operation or a body with different bytes is INVALID_ARGUMENT. ` +
      'The server stores keys for 24 hours by default.',
    schema: { type: 'string', minLength: 1, maxLength: keyLengthMax, pattern: '^[!-~]+$' },
  }
}

export const idempotencyHeaders = {
  IdempotentReplayed: {
    description: `\`true\` for the stored response of an earlier call with the \`${idempotencyHeader}\`; else absent.`,
    schema: json.choice(['true']),
  },
}

const parameterOf: Readonly<Record<Exclude<Effect, 'reads'>, keyof typeof idempotencyParameters>> = {
  once: 'KeyOfOnce',
  adds: 'KeyOfAdds',
  repeatable: 'KeyOfRepeatable',
}

/** Returns the `parameters` of an operation; an empty object if the operation has no parameters. */
export function parametersOf({ effect }: Affecting): object {
  if (effect === 'reads') return {}
  return { parameters: [{ $ref: `#/components/parameters/${parameterOf[effect]}` }] }
}

/** Returns the headers of an operation's responses that are not common to all operations. */
export const replayHeadersOf = ({ effect }: Affecting): object =>
  effect === 'reads' ? {} : { [replayedHeader]: { $ref: '#/components/headers/IdempotentReplayed' } }

const errors: readonly DocumentedError[] = [
  {
    code: 'idempotency/key-reused',
    when: `the \`${idempotencyHeader}\` was used for another call`,
  },
  {
    code: 'idempotency/in-progress',
    when: `the first call with the \`${idempotencyHeader}\` is running (\`details.outcome\` is \`running\`)`,
  },
  {
    code: 'idempotency/outcome-unknown',
    when: `the first call with the \`${idempotencyHeader}\` has an unknown outcome (\`details.outcome\` is \`unknown\`)`,
  },
  {
    code: 'idempotency/response-not-kept',
    when:
      `the first call with the \`${idempotencyHeader}\` succeeded with a response that is not stored, because it has ` +
      `more than ${idempotencyLimits.answerBytes} bytes or the space is full (\`details.outcome\` is \`done\`)`,
  },
  {
    code: 'limit/exceeded',
    when:
      `${idempotencyLimits.calls} calls with an \`${idempotencyHeader}\`, or ${idempotencyLimits.bytes} bytes of their ` +
      'answers, are remembered',
  },
]

/** Returns the errors that the header `idempotency-key` can cause. */
export const idempotencyErrors = ({ effect }: Affecting): readonly DocumentedError[] =>
  effect === 'reads' ? [] : errors
