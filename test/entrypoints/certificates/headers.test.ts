import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  readByteSequence,
  readEscapedPem,
  readForwardedCert,
} from '../../../lib/entrypoints/certificates/certificate.ts'
import { anyCharacter } from '../../helpers/arbitraries/any-character.ts'
import { holds } from '../../helpers/arbitraries/property.ts'
import { selfSigned } from '../../helpers/servers/self-signed.ts'

const mine = selfSigned('client.test').cert
const other = selfSigned('victim.test').cert
const base64 = mine.replace(/-----.*-----|\n/g, '')
const DER = Buffer.from(base64, 'base64')
const asText = (...bytes: Buffer[]) => Buffer.concat(bytes).toString('base64')
const [MINE, OTHER] = [encodeURIComponent(mine), encodeURIComponent(other)]

const isMine = (raw: Buffer | null) => raw?.equals(DER) ?? false

test('a Byte Sequence is one certificate in DER', () => {
  assert.equal(isMine(readByteSequence(`:${base64}:`)), true)
  // BER: the length in more bytes than it needs.
  const ber = Buffer.concat([Buffer.from([0x30, 0x83, 0]), DER.subarray(2)])
  for (const value of [
    ...[
      '',
      ':',
      '::',
      ':::',
      base64,
      `:${base64}`,
      `${base64}:`,
      `:${base64}:;a=1`,
      ` :${base64}:`,
    ],
    ...[`:${base64}: `, `:${base64}:,:${base64}:`, `:${base64}:, :${base64}:`, `"${base64}"`],
    ...[`:${base64.replace(/=*$/, '')}===:`, `:${base64}=:`, `:${base64} :`, `:${base64}\n:`],
    ...[`:${DER.toString('base64url')}-:`, `:${asText(Buffer.from(mine))}:`, `(:${base64}:)`],
    ...[`:${asText(DER, DER)}:`, `:${asText(DER, Buffer.of(0))}:`, `:${asText(DER.subarray(1))}:`],
    ...[`:${asText(DER.subarray(0, -1))}:`, `:${asText(ber)}:`, `:${asText(Buffer.of(0x30, 0))}:`],
  ]) {
    assert.equal(readByteSequence(value), null, value)
  }
})

test('padding of base64 is there, and has no bits of its own', () => {
  for (const { cert } of Array.from({ length: 8 }, (_, i) => selfSigned(`${'a'.repeat(i)}.test`))) {
    const text = cert.replace(/-----.*-----|\n/g, '')
    assert.notEqual(readByteSequence(`:${text}:`), null)
    if (!text.endsWith('=')) continue
    assert.equal(readByteSequence(`:${text.replace(/=+$/, '')}:`), null)
    const letter = text.replace(/=+$/, '').at(-1) ?? ''
    const next = String.fromCharCode(letter.charCodeAt(0) + 1)
    assert.equal(readByteSequence(`:${text.replace(`${letter}=`, `${next}=`)}:`), null)
  }
})

test('an escaped PEM text is one certificate', () => {
  const lines = base64.match(/.{1,64}/g) ?? []
  const broken = (end: string) =>
    ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join(end)
  for (const text of [mine, mine.trimEnd(), broken('\n'), broken('\r\n')]) {
    assert.equal(isMine(readEscapedPem(encodeURIComponent(text))), true)
  }
  assert.equal(isMine(readEscapedPem(mine.replaceAll('\n', '%0A').replaceAll(' ', '%20'))), true)
  for (const text of [
    ...['', '%', '%zz', '%E9', base64, `:${base64}:`, mine.replace('BEGIN', 'BEGIN TRUSTED')],
    ...[`${mine}${mine}`, `${mine}${other}`, `a\n${mine}`, `${mine}a`, `${mine}\n`, ` ${mine}`],
    ...[mine.replaceAll('\n', ' '), mine.replace(/\n/, ''), mine.replace('MII', 'MI I')],
    ...[mine.replace('-----END', `${asText(Buffer.of(0))}\n-----END`), encodeURIComponent(MINE)],
  ]) {
    assert.equal(readEscapedPem(text), null, text)
    if (!text.startsWith('%')) assert.equal(readEscapedPem(encodeURIComponent(text)), null, text)
  }
})

test('of forwarded elements the last one counts, with its Cert in quotes', () => {
  const cert = `Cert="${MINE}"`
  for (const value of [
    ...[cert, `cert="${MINE}"`, `CERT="${MINE}"`, `By=a;${cert}`, `${cert};Subject=""`],
    ...[`Cert="${OTHER}",${cert}`, `By=a,By=b , ${cert}`, `Hash=00;${cert};URI=spiffe://a/b?c=d`],
    ...[`${cert};Chain="${OTHER}"`, `Subject="a,b;Cert=\\"${OTHER}\\"",${cert}`],
    ...[`Subject="CN=\\"\\\\";${cert}`, `Subject="x\\\\";${cert};DNS=a.test;DNS=b.test`],
  ]) {
    assert.equal(isMine(readForwardedCert(value)), true, value)
  }
})

test('forwarded elements that are not well formed hold no certificate', () => {
  const cert = `Cert="${OTHER}"`
  for (const value of [
    ...[
      '',
      ' ',
      ',',
      ';',
      '=',
      '""',
      'Cert',
      'Cert=',
      'Cert=""',
      `Cert=${OTHER}`,
      `"Cert"=${OTHER}`,
    ],
    ...[
      `${cert},`,
      `,${cert}`,
      `${cert};`,
      `;${cert}`,
      `By=a;;${cert}`,
      `By=a,,${cert}`,
      `By;${cert}`,
    ],
    ...[
      `${cert};${cert}`,
      `${cert};cert="${MINE}"`,
      `${cert};Cert=`,
      `${cert},By=a`,
      `${cert},Cert=x`,
    ],
    ...[`Cert="${OTHER}`, `Cert=${OTHER}"`, `${cert}x`, `${cert} x`, `x ${cert}`, `By=a b;${cert}`],
    ...[
      `By="a"b;${cert}`,
      `By=a"b";${cert}`,
      `By="a;${cert}`,
      `By=a\\";${cert}`,
      `By="a\\";${cert}`,
    ],
    ...[`Cert="\\"${OTHER}\\""`, `Cert="${OTHER}${OTHER}"`, `Cert ="${OTHER}"`, `Cert= "${OTHER}"`],
    ...[`Cert=:${base64}:`, `Cert="${base64}"`, `Subject="a,${cert}`],
  ]) {
    assert.equal(readForwardedCert(value), null, value)
  }
})

test('nothing that a name in quotes may say changes whose certificate it is', async (t) => {
  const piece = fc.oneof(
    fc.constantFrom('"', '\\', ',', ';', '=', ' ', 'Cert=', `Cert="${OTHER}"`, `",Cert="${OTHER}`),
    fc.string({ maxLength: 5 }),
  )
  const name = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))
  await holds(
    t,
    fc.asyncProperty(name, name, async (before, after) => {
      // As the rule of names says (RFC 4514 §2.4), which Envoy keeps.
      const quoted = (text: string) => `"${text.replace(/["\\]/g, '\\$&').replace(/\n/g, '')}"`
      const own = `Subject=${quoted(before)};Cert="${MINE}";Issuer=${quoted(after)};DNS=a`
      assert.equal(isMine(readForwardedCert(own)), true)
      assert.equal(isMine(readForwardedCert(`By=x;Subject=${quoted(after)},${own}`)), true)
    }),
  )
})

test('no text makes a reader throw, or takes it long', async (t) => {
  const piece = fc.oneof(
    fc.constantFrom(
      ...['"', '\\', ',', ';', '=', ':', '%', 'Cert="', MINE, base64, mine, '%0A', '%E9'],
    ),
    fc.string({ unit: anyCharacter, maxLength: 20 }),
  )
  const anyValue = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))
  await holds(
    t,
    fc.asyncProperty(anyValue, async (value) => {
      for (const read of [readByteSequence, readEscapedPem, readForwardedCert]) {
        const raw = read(value)
        assert.ok(raw === null || raw.equals(DER), 'it made a certificate')
      }
    }),
  )
  const start = performance.now()
  for (const unit of [
    ' ',
    '"',
    '\\',
    'a',
    '=',
    ',',
    ';',
    'a=b;',
    'a=b,',
    '%',
    'a=" ',
    '\\"',
    '\t',
    ':',
  ]) {
    for (const [first, last] of ['', 'a=', 'a="', ':', 'Cert="'].flatMap((each) => [
      [each, ''],
      [each, '"x'],
    ])) {
      const value = `${first}${unit.repeat(16_384 / unit.length)}${last}`
      for (const read of [readByteSequence, readEscapedPem, readForwardedCert]) read(value)
    }
  }
  assert.ok(performance.now() - start < 3000, `${performance.now() - start} ms`)
})

test('no address in a certificate passes for the certificate of somebody else', () => {
  // Envoy writes addresses (`URI`, `DNS`) as they stand in the certificate, without quotes.
  const victim = `Cert="${OTHER}"`
  for (const own of [`Cert="${MINE}";Subject=""`, 'Subject=""']) {
    for (const address of [
      ...[`a:b,${victim}`, `a:b;${victim}`, `a:b,By=p;Hash=00;${victim}`, `,${victim}`],
      ...[`a:b,${victim};URI=a:b`, `a:b;Subject="";${victim}`],
    ]) {
      for (const name of ['URI', 'DNS']) {
        const read = readForwardedCert(`By=p;Hash=00;${own};${name}=${address}`)
        assert.ok(read === null || read.equals(DER), `${name}=${address.slice(0, 20)}`)
      }
    }
  }
})
