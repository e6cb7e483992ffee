import { useState } from 'preact/hooks'
import { useAction, useApi } from '../api/hooks.ts'
import { Button, TextField } from '../ui/controls.tsx'
import { Form } from '../ui/form.tsx'
import { ErrorNotice, Notice } from '../ui/notice.tsx'
import { type AnsweringName, callbacksPath, failurePolicies, resultMeanings } from './callback-settings.ts'

/** Result of a test, as `/v2/workspace/callbacks/test` returns it. */
interface TestedCall {
  /** `answered`, or why the call failed. */
  readonly result: string
  readonly reason: string | null
  readonly durationMs: number
  readonly answer: {
    readonly role?: string | null
    readonly ttlSeconds?: number
    readonly notFound?: boolean
    readonly type?: string
    readonly contentKey?: string
    readonly updateBytes?: number
  } | null
}

interface CallbackTestProps {
  readonly name: AnsweringName
  readonly onFailure: string
  readonly onTested: () => void
}

/** Shows a form that calls a callback as a test, and the answer or why the call failed. */
export function CallbackTest({ name, onFailure, onTested }: CallbackTestProps) {
  const api = useApi()
  const [organizationId, setOrganization] = useState('')
  const [documentId, setDocument] = useState('')
  const [userId, setUser] = useState('test')
  const [tested, setTested] = useState<TestedCall | null>(null)
  const test = useAction(async () => {
    setTested(null)
    const editor = { organizationId: organizationId.trim(), documentId: documentId.trim() }
    const asked = { callback: name, ...editor, ...(name === 'authorize' && { userId: userId.trim() }) }
    setTested(await api.call<TestedCall>(`${callbacksPath}/test`, asked))
    onTested()
  })
  return (
    <section class="card" aria-label={`Test of ${name}`}>
      <h2>Test call</h2>
      <p class="hint">
        Calls the saved URL about the editor main of a document, which need not exist. The answer changes
        nothing. Repeated failures pause the callback, as those of clients do.
      </p>
      <Form label={`Test of ${name}`} inline onSubmit={() => void test.run()}>
        <TextField label="Organization id" value={organizationId} onInput={setOrganization} required />
        <TextField label="Document id" value={documentId} onInput={setDocument} required />
        {name === 'authorize' && <TextField label="User id" value={userId} onInput={setUser} required />}
        <Button type="submit" busy={test.busy}>
          Call {name}
        </Button>
      </Form>
      <ErrorNotice error={test.error} />
      {tested !== null && <Outcome name={name} tested={tested} onFailure={onFailure} />}
    </section>
  )
}

interface OutcomeProps extends Omit<CallbackTestProps, 'onTested'> {
  readonly tested: TestedCall
}

function Outcome({ name, tested: { result, reason, durationMs, answer }, onFailure }: OutcomeProps) {
  const time = `${durationMs.toLocaleString()} ms`
  if (answer !== null)
    return (
      <Notice kind="good">
        Answered after {time}: {describeAnswer(answer)}.
      </Notice>
    )
  const [, effect = onFailure] = failurePolicies[name].find(([each]) => each === onFailure) ?? []
  return (
    <Notice kind="bad">
      Failed after {time} ({result}): {reason}. {resultMeanings[result]} For clients, the policy {onFailure}{' '}
      applies: {effect}.
    </Notice>
  )
}

function describeAnswer(answer: NonNullable<TestedCall['answer']>): string {
  const { role, ttlSeconds, notFound, type, contentKey, updateBytes } = answer
  if (notFound === true) return 'the backend does not have the document'
  if (updateBytes !== undefined) return `a Yjs update of ${updateBytes.toLocaleString()} bytes`
  if (type !== undefined)
    return `content of type ${type}${contentKey === undefined ? '' : ` in ${contentKey}`}`
  return `${role === null ? 'no access' : `role ${role}`}, for ${ttlSeconds} seconds`
}
