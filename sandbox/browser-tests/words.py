"""What the payer's pages say in each language, written down apart from them."""

from __future__ import annotations

from dataclasses import dataclass

from kassa_sandbox import Language


@dataclass(frozen=True, slots=True)
class Words:
    """The words that payers go by."""

    price: str
    test_mode: str
    confirm_title: str
    otp: str
    attempts_left: str
    wrong_otp: str
    confirm: str
    cancel: str
    cancelled: str
    pay_title: str
    bank_card: str
    card_number: str
    pay: str
    megapay_minimum: str
    phone: str
    wrong_pan: str
    no_test_card: str
    qr_title: str
    amount: str
    wrong_amount: str
    approve: str
    decline: str
    paid: str
    not_paid: str
    in_progress: str
    back: str
    no_page: str
    finished: str
    declined: str
    insufficient_funds: str
    too_many_otps: str
    still_here: str
    unreadable: str
    failed: str


ENGLISH = Words(
    price="KGS\u00a01,234.50",
    test_mode="Test mode: no real money moves here",
    confirm_title="Confirm the payment",
    otp="One-time password",
    attempts_left="Attempts left: 3",
    wrong_otp="Wrong one-time password",
    confirm="Confirm",
    cancel="Cancel the payment",
    cancelled="You cancelled the payment",
    pay_title="Payment",
    bank_card="Bank card",
    card_number="Card number",
    pay="Pay KGS\u00a01,234.50",
    megapay_minimum="MegaPay takes payments from 5 KGS",
    phone="Phone number",
    wrong_pan="A card number has 13 to 20 digits",
    no_test_card="This is no test card; choose one of those offered",
    qr_title="Payment by QR code",
    amount="Amount in som",
    wrong_amount="Enter an amount, such as 150 or 99.50",
    approve="Approve",
    decline="Decline",
    paid="Paid",
    not_paid="Not paid",
    in_progress="In progress",
    back="Back to the merchant",
    no_page="Page not found",
    finished="This payment is finished; nothing was changed",
    declined="The payment was declined",
    insufficient_funds="Insufficient funds",
    too_many_otps="Too many wrong one-time passwords",
    still_here="Nothing happened? Press once more to see how the payment stands",
    unreadable="The form could not be read",
    failed="The sandbox failed; its log says why",
)

RUSSIAN = Words(
    price="1\u00a0234,50\u00a0сом",
    test_mode="Тестовый режим: настоящих денег здесь нет",
    confirm_title="Подтвердите платёж",
    otp="Одноразовый пароль",
    attempts_left="Осталось попыток: 3",
    wrong_otp="Неверный одноразовый пароль",
    confirm="Подтвердить",
    cancel="Отменить платёж",
    cancelled="Вы отменили платёж",
    pay_title="Оплата",
    bank_card="Банковская карта",
    card_number="Номер карты",
    pay="Оплатить 1\u00a0234,50\u00a0сом",
    megapay_minimum="MegaPay принимает платежи от 5 сомов",
    phone="Номер телефона",
    wrong_pan="В номере карты от 13 до 20 цифр",
    no_test_card="Это не тестовая карта; выберите одну из предложенных",
    qr_title="Оплата по QR-коду",
    amount="Сумма в сомах",
    wrong_amount="Введите сумму, например 150 или 99,50",
    approve="Оплатить",
    decline="Отказаться",
    paid="Оплачено",
    not_paid="Не оплачено",
    in_progress="В обработке",
    back="Вернуться к продавцу",
    no_page="Страница не найдена",
    finished="Этот платёж завершён; ничего не изменилось",
    declined="Платёж отклонён",
    insufficient_funds="Недостаточно средств",
    too_many_otps="Слишком много неверных одноразовых паролей",
    still_here="Ничего не произошло? Нажмите ещё раз, чтобы увидеть, что с платежом",
    unreadable="Форму не удалось прочитать",
    failed="Сбой песочницы; причина в её журнале",
)

KYRGYZ = Words(
    price="1\u00a0234,50\u00a0сом",
    test_mode="Сыноо режими: бул жерде чыныгы акча жок",
    confirm_title="Төлөмдү ырастаңыз",
    otp="Бир жолку сырсөз",
    attempts_left="Калган аракет: 3",
    wrong_otp="Бир жолку сырсөз туура эмес",
    confirm="Ырастоо",
    cancel="Төлөмдү жокко чыгаруу",
    cancelled="Сиз төлөмдү жокко чыгардыңыз",
    pay_title="Төлөм",
    bank_card="Банк картасы",
    card_number="Картанын номери",
    pay="Төлөө 1\u00a0234,50\u00a0сом",
    megapay_minimum="MegaPay төлөмдөрдү 5 сомдон баштап кабыл алат",
    phone="Телефон номери",
    wrong_pan="Картанын номеринде 13төн 20га чейин цифра болот",
    no_test_card="Бул сыноо картасы эмес; сунушталгандардын бирин тандаңыз",
    qr_title="QR-код менен төлөө",
    amount="Сумма, сом менен",
    wrong_amount="Сумманы жазыңыз, мисалы 150 же 99,50",
    approve="Төлөө",
    decline="Баш тартуу",
    paid="Төлөндү",
    not_paid="Төлөнгөн жок",
    in_progress="Иштетилүүдө",
    back="Сатуучуга кайтуу",
    no_page="Баракча табылган жок",
    finished="Бул төлөм аяктаган; эч нерсе өзгөргөн жок",
    declined="Төлөм четке кагылды",
    insufficient_funds="Каражат жетишсиз",
    too_many_otps="Туура эмес бир жолку сырсөз өтө көп киргизилди",
    still_here="Эч нерсе болгон жокпу? Төлөмдүн абалын көрүү үчүн дагы бир жолу басыңыз",
    unreadable="Форманы окууга мүмкүн болгон жок",
    failed="Сыноо чөйрөсүндө ката чыкты; себеби анын журналында",
)

WORDS: dict[Language, Words] = {"en": ENGLISH, "ru": RUSSIAN, "ky": KYRGYZ}
