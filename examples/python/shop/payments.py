"""Sends payments. Each is stored before it is sent, is sent once, and is followed whatever comes back."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from decimal import Decimal
from urllib.parse import urlencode

import kassa

from .following import Follower
from .orders import Order, Orders, Payment
from .states import State

LOGGER = logging.getLogger("shop")


class Payments:
    """The ways to pay an order."""

    def __init__(self, gateway: kassa.AsyncGateway, orders: Orders, follower: Follower, public_url: str) -> None:
        self._gateway = gateway
        self._orders = orders
        self._follower = follower
        self._public_url = public_url

    async def by_card(self, order: Order, card: kassa.Card, ip: str) -> Payment:
        """Sends a card payment. `kassa.Invalid` says what is wrong with the card; nothing was sent then."""
        number = kassa.new_order_number()
        request = kassa.CardPayment(
            order_number=number,
            description=order.cart.text,
            amount=order.amount,
            currency=order.currency,
            card=card,
            language="en",
            return_url=self._url("return", number),
            callback_url=self._url("callback", number),
            ip=ip,
        )
        async with self._sending(order, number, request.payment_ref()) as gateway:
            created = await gateway.create_card_payment(request)
            # One that knows the gateway's number, too. Without it, the shop's own number will do.
            self._orders.learn(number, created.payment)
            match created.next_step:
                case kassa.OpenConfirmation():
                    self._orders.move(number, State.AWAITING_PAYER)
                case kassa.AskStatus():
                    self._orders.move(number, State.ACCEPTED)
        return self._orders.payment(number)

    async def by_mbank(self, order: Order, phone: str) -> Payment:
        """Sends a mobile-bank payment. `kassa.Invalid` says what is wrong with the phone; nothing was sent then."""
        number = kassa.new_order_number()
        request = kassa.MbankPayment(
            order_number=number,
            phone=phone,
            amount_som=int(order.amount),
            comment=order.cart.text,
            callback_url=self._url("callback", number),
        )
        async with self._sending(order, number, request.payment_ref()) as gateway:
            created = await gateway.create_mbank_payment(request)
            self._orders.learn(number, created.payment)
            self._orders.move(number, State.AWAITING_PAYER)
        return self._orders.payment(number)

    async def by_pay_form(self, order: Order) -> Payment:
        """Makes a pay-form. Its answer names no payment: callback and return will, by the id in their addresses."""
        payment_id = kassa.new_order_number()
        request = kassa.PayForm(
            amount=order.amount,
            service_name=order.cart.text,
            callback_url=self._url("callback", payment_id),
            return_url=self._url("return", payment_id),
            entry_id=payment_id,
        )
        async with self._sending(order, payment_id, request.payment_ref()) as gateway:
            await gateway.create_pay_form(request)
            self._orders.move(payment_id, State.AWAITING_PAYER)
        return self._orders.payment(payment_id)

    async def by_qr(self, order: Order) -> Payment:
        """Makes a QR code."""
        payment_id = kassa.new_order_number()
        request = kassa.QrPayment(
            sum_tyiyn=kassa.som_to_tyiyn(order.amount),
            callback_url=self._url("callback", payment_id),
            entry_id=payment_id,
        )
        async with self._sending(order, payment_id, request.payment_ref()) as gateway:
            data = await gateway.create_qr_data(request)
            # A code that cannot be followed is not shown: nobody would see that it was paid.
            if data.payload is None or data.transaction_id is None or not self._orders.learn(payment_id, data.payment):
                LOGGER.error("the QR reply holds no code or no transaction that the dialect finds: %s", data.raw)
                self._orders.move(payment_id, State.NOT_MADE, detail="QR codes do not work at the moment.")
            else:
                self._orders.move(payment_id, State.AWAITING_PAYER)
        return self._orders.payment(payment_id)

    async def confirm_mbank(self, payment: Payment, otp: str) -> None:
        """Sends the payer's one-time password, once, however often the button is pressed."""
        if not self._orders.move(payment.id, State.CONFIRMING):
            return
        try:
            await self._gateway.confirm_mbank_payment(payment.ref, otp)
            self._orders.move(payment.id, State.ACCEPTED)
        except kassa.Invalid:
            self._orders.move(payment.id, State.AWAITING_PAYER, detail="Enter the code from the message.")
        except kassa.Refused as error:
            detail = error.reason or "The code was not accepted."
            self._orders.move(payment.id, State.AWAITING_PAYER, detail=detail)
        except kassa.OutcomeUnknown as error:
            LOGGER.warning("payment %s: %s", payment.id, error)
            self._orders.move(payment.id, State.UNKNOWN)
        except kassa.PaymentError as error:
            # Nothing happened, so the payer may send the code again.
            LOGGER.warning("payment %s: %s", payment.id, error)
            self._orders.move(payment.id, State.AWAITING_PAYER, detail="The code could not be sent. Please try again.")
        except BaseException:
            # Whatever this was, the code may have been sent.
            self._orders.move(payment.id, State.UNKNOWN)
            raise
        finally:
            self._follower.check_now(payment.id)

    @asynccontextmanager
    async def _sending(
        self, order: Order, payment_id: str, ref: kassa.PaymentRef
    ) -> AsyncGenerator[kassa.AsyncGateway]:
        """Stores a payment before the block sends it, and writes down what an error says about the money. The gateway of the
        block notes in its journal which order the payment is for."""
        self._orders.begin(order, payment_id, ref)
        try:
            yield self._gateway.with_note(order.reference)
        except kassa.OutcomeUnknown as error:
            LOGGER.warning("payment %s: %s", payment_id, error)
            self._orders.learn(payment_id, error.payment)
            self._orders.move(payment_id, State.UNKNOWN)
        except kassa.Invalid:
            self._orders.move(payment_id, State.NOT_MADE, detail="Something was not filled in correctly.")
            raise
        except kassa.PaymentError as error:
            LOGGER.warning("payment %s: %s", payment_id, error)
            self._orders.move(payment_id, State.NOT_MADE, detail=_for_the_payer(error))
        except BaseException:
            # Whatever this was (the server may be stopping), the payment may have been sent.
            self._follower.recover(payment_id)
            raise
        finally:
            self._follower.look(payment_id)

    def _url(self, page: str, payment_id: str) -> str:
        return f"{self._public_url}/{page}?{urlencode({'payment': payment_id})}"


def takes_mbank(amount: Decimal) -> bool:
    """MBank takes whole som, and nobody rounds somebody else's money."""
    return amount == amount.to_integral_value()


def _for_the_payer(error: kassa.PaymentError) -> str:
    match error:
        case kassa.Refused(reason=str(reason)):
            return reason
        case kassa.Unavailable():
            return "The payment service cannot be reached. Please try again in a minute."
        case _:
            return "The payment service does not work at the moment."
