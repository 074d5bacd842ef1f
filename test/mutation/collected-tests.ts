import * as nodeTest from 'node:test'
import { mock, type TestContext, type TestOptions, test } from 'node:test'

type Body = (context: TestContext) => void | Promise<void>

/** Tests that share their hooks: those of a file, or of a `describe`. */
interface Group {
  readonly before: Body[]
  readonly after: Body[]
  readonly beforeEach: Body[]
  readonly afterEach: Body[]
  readonly members: Body[]
}

/**
 * A stand-in for `node:test` that keeps the tests of a file, so that they can be run in a process
 * that goes on. `node:test` itself runs them, up to the first one that fails.
 */
export class CollectedTests {
  #group: Group = { before: [], after: [], beforeEach: [], afterEach: [], members: [] }
  #failed: string | null = null

  /** What a test file imports in the place of `node:test`. */
  get exports(): Readonly<Record<string, unknown>> {
    const add = (...args: readonly unknown[]) => this.#add(args)
    const describe = (...args: readonly unknown[]) => this.#describe(args)
    return {
      ...nodeTest,
      ...{ default: add, test: add, it: add, describe, suite: describe },
      before: (body: Body) => this.#group.before.push(body),
      after: (body: Body) => this.#group.after.push(body),
      beforeEach: (body: Body) => this.#group.beforeEach.push(body),
      afterEach: (body: Body) => this.#group.afterEach.push(body),
    }
  }

  /** The name of the first test that fails; null: all pass. */
  async run(): Promise<string | null> {
    await test((context) => this.#runGroup(this.#group, context))
    mock.timers.reset()
    mock.reset()
    return this.#failed
  }

  #add(args: readonly unknown[]): void {
    const group = this.#group
    this.#addMember(args, (body) => async (context) => {
      for (const hook of group.beforeEach) await hook(context)
      try {
        await body(context)
      } finally {
        for (const hook of group.afterEach) await hook(context)
      }
    })
  }

  #describe(args: readonly unknown[]): void {
    this.#addMember(args, (describe) => {
      const outer = this.#group
      const { beforeEach, afterEach } = outer
      const inner = {
        ...{ before: [], after: [], members: [] },
        ...{ beforeEach: [...beforeEach], afterEach: [...afterEach] },
      }
      this.#group = inner
      Reflect.apply(describe, undefined, [])
      this.#group = outer
      return (context) => this.#runGroup(inner, context)
    })
  }

  /** Takes the arguments of `test()`, of which each but the function may be left out. */
  #addMember(args: readonly unknown[], made: (body: Body) => Body): void {
    const name = String(args.find((arg) => typeof arg === 'string'))
    const options: TestOptions = args.find((arg) => typeof arg === 'object') ?? {}
    const body = args.find((arg): arg is Body => typeof arg === 'function') ?? (() => {})
    const run = made(body)
    this.#group.members.push(async (context) => {
      let inner: TestContext | undefined
      await context.test(name, options, (its) => {
        inner = its
        return run(its)
      })
      if (inner !== undefined && !Reflect.get(inner, 'passed')) this.#failed ??= name
    })
  }

  async #runGroup(group: Group, context: TestContext): Promise<void> {
    try {
      for (const hook of group.before) await hook(context)
      for (const member of group.members) if (this.#failed === null) await member(context)
    } catch (error) {
      this.#failed ??= `a hook: ${error}`
    } finally {
      for (const hook of group.after) await hook(context)
    }
  }
}
