import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OpenQuestions } from '../../lib/outside/open-questions.ts'
import { textsOfOneHash } from '../helpers/arbitraries/texts-of-one-hash.ts'

/** A question whose answer the test gives. */
function asked(open: OpenQuestions<string>, key: string) {
  let give = (_: string) => {}
  const run = () =>
    new Promise<string>((resolve) => {
      give = resolve
    })
  const forgotten: boolean[] = []
  const answer = open.ask(key, {
    run,
    done: (given: string, { isForgotten }) => {
      forgotten.push(isForgotten)
      return given
    },
    failed: String,
  })
  return { answer, give: (given: string) => give(given), forgotten }
}

test('a question is open until its answer has come', async () => {
  const open = new OpenQuestions<string>(1)
  const { answer, give } = asked(open, 'a')
  assert.deepEqual([open.get('a'), open.isFull], [answer, true])
  give('yes')
  assert.equal(await answer, 'yes')
  assert.deepEqual([open.get('a'), open.isFull], [undefined, false])
  open.forget((key) => assert.fail(`${key} is open no more`))
})

test('a question that is forgotten counts on, and the next one is another', async () => {
  const open = new OpenQuestions<string>(2)
  const old = asked(open, 'a')
  open.forget((key) => key === 'b')
  assert.equal(open.get('a'), old.answer)
  open.forget((key) => key === 'a')
  assert.deepEqual([open.get('a'), open.isFull], [undefined, false])
  const young = asked(open, 'a')
  assert.equal(open.isFull, true)
  old.give('old')
  assert.equal(await old.answer, 'old')
  assert.equal(open.get('a'), young.answer, 'the old answer takes nothing away')
  young.give('young')
  assert.equal(await young.answer, 'young')
  assert.deepEqual([old.forgotten, young.forgotten], [[true], [false]])
})

test('a question that is forgotten while it is put cannot be joined, and counts', async () => {
  const open = new OpenQuestions<string>(1)
  const forgotten: boolean[] = []
  const answer = open.ask('a', {
    run: () => {
      open.forget((key) => key === 'a')
      return Promise.resolve('yes')
    },
    done: (given: string, { isForgotten }) => {
      forgotten.push(isForgotten)
      return given
    },
    failed: String,
  })
  assert.deepEqual([open.get('a'), open.isFull], [undefined, true])
  assert.equal(await answer, 'yes')
  assert.deepEqual([open.get('a'), open.isFull, forgotten], [undefined, false, [true]])
})

test('of two questions with one key the later one can be joined, and each counts', async () => {
  const open = new OpenQuestions<string>(100)
  const [one, two] = [asked(open, 'a'), asked(open, 'a')]
  const others = Array.from({ length: 98 }, (_, at) => asked(open, `other ${at}`))
  assert.deepEqual([open.get('a') === two.answer, open.isFull], [true, true])
  one.give('one')
  assert.equal(await one.answer, 'one')
  assert.deepEqual([open.get('a') === two.answer, open.isFull], [true, false])
  two.give('two')
  assert.equal(await two.answer, 'two')
  assert.equal(open.get('a'), undefined)
  for (const [at, { answer }] of others.entries()) assert.equal(open.get(`other ${at}`), answer)
})

test('two questions whose keys have one hash can each be joined', async () => {
  const open = new OpenQuestions<string>(2)
  const [key, twin] = textsOfOneHash()
  const one = asked(open, key)
  assert.equal(open.get(twin), undefined)
  const two = asked(open, twin)
  assert.deepEqual([open.get(key) === one.answer, open.get(twin) === two.answer], [true, true])
  two.give('two')
  assert.equal(await two.answer, 'two')
  assert.deepEqual([open.get(key) === one.answer, open.get(twin)], [true, undefined])
})

test('an answer that is there at once leaves nothing open', () => {
  const open = new OpenQuestions<string>(1)
  const answer = (run: () => string) =>
    open.ask('a', { run, done: (given) => given, failed: (error) => `no: ${error}` })
  assert.equal(
    answer(() => 'yes'),
    'yes',
  )
  assert.match(String(answer(() => JSON.parse(''))), /^no: SyntaxError/)
  assert.deepEqual([open.get('a'), open.isFull], [undefined, false])
})
