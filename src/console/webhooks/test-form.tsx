import { useState } from 'preact/hooks'
import { useAction, useApi } from '../calls.ts'
import { Button, Choice } from '../ui/controls.tsx'
import { Form } from '../ui/form.tsx'
import { Problem } from '../ui/notice.tsx'
import { eventTypes } from './types.ts'

interface TestFormProps {
  readonly endpointId: string
  readonly onSent: (messageId: string) => void
}

const options = eventTypes.map((type) => [type, type] as const)

/** Sends a signed event that has not happened. */
export function TestForm({ endpointId, onSent }: TestFormProps) {
  const api = useApi()
  const [eventType, setType] = useState<string>('webhook.test')
  const test = useAction(async () => {
    const path = '/v2/workspace/advancedwebhook/endpoints/test'
    const { messageId } = await api.call<{ messageId: string }>(path, { endpointId, eventType })
    onSent(messageId)
  })
  return (
    <>
      <Form label="Send a test" inline onSubmit={() => void test.run()}>
        <Choice label="Event of the test" value={eventType} options={options} onChange={setType} />
        <Button kind="primary" type="submit" busy={test.busy}>
          Send a test
        </Button>
      </Form>
      <Problem error={test.error} />
    </>
  )
}
